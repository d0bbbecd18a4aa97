// The formats of RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, and without a zone `Sun Nov  6 08:49:37 1994`.
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? [-\w :]+$/;

/**
 * How long a `Retry-After` (RFC 9110 §10.2.3) asks to wait, in milliseconds: of a number of seconds or of a date.
 * `undefined` where it is neither.
 */
export function retryAfterMs(value: string, now = Date.now()): number | undefined {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!httpDate.test(value)) return undefined;
  const at = Date.parse(value.endsWith(' GMT') ? value : `${value} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
