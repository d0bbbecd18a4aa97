// Hot path: every response has it.
let text = '';
let second = 0;

/** The current time for the header `Date` (RFC 9110 §6.6.1). */
export function httpDate(): string {
  const now = Date.now();
  if (Math.floor(now / 1000) !== second) {
    second = Math.floor(now / 1000);
    text = new Date(now).toUTCString();
  }
  return text;
}
