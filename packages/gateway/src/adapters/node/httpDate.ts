// Hot path: called for every response.
let cachedDate: string | undefined;

const clearCachedDate = () => {
  cachedDate = undefined;
};

/** Returns the current time for the header `Date` (RFC 9110 §6.6.1), formatted once per second. */
export function httpDate(): string {
  if (cachedDate !== undefined) return cachedDate;
  const now = Date.now();
  setTimeout(clearCachedDate, 1000 - (now % 1000)).unref();
  cachedDate = new Date(now).toUTCString();
  return cachedDate;
}
