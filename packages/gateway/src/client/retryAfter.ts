// The date formats of RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, and without a zone `Sun Nov  6 08:49:37 1994`.
const httpDatePattern = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? [-\w :]+$/;

/**
 * Parses `Retry-After` (RFC 9110 §10.2.3), a number of seconds or a date, to a delay in milliseconds. Returns
 * `undefined` for any other value.
 */
export function retryAfterMs(value: string, now = Date.now()): number | undefined {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!httpDatePattern.test(value)) return undefined;
  const at = Date.parse(value.endsWith(' GMT') ? value : `${value} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
