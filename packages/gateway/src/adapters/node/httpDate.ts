// Hot path: every response has it.
let text: string | undefined;

const forget = () => {
  text = undefined;
};

/** The current time for the header `Date` (RFC 9110 §6.6.1). */
export function httpDate(): string {
  if (text !== undefined) return text;
  const now = Date.now();
  setTimeout(forget, 1000 - (now % 1000)).unref();
  text = new Date(now).toUTCString();
  return text;
}
