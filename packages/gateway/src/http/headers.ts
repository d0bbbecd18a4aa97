import type { Header } from './response.ts';

/** A token: the syntax of methods and header names (RFC 9110 §5.6.2). */
export const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex -- these bytes must not occur in a header
const unsafeBytes = /[\0\r\n]/;
/** Headers that frame the message. Only the adapter writes them. */
const framingHeader = /^(?:connection|content-length|trailer|transfer-encoding)$/i;

/**
 * Cache of names that passed the checks. Limited in size, since a service may generate a new name for each response.
 */
const writableNames = new Set<string>();

/**
 * Whether an adapter may write a header. uWebSockets.js writes CR and LF unchanged: in a value they would start another
 * header or another response (response splitting). A name or value that is not a string is rejected, too, in case a
 * service ignores the types.
 */
export function isWritableHeader(header: Header): boolean {
  // Hot path: array destructuring would run an iterator.
  const name = header[0];
  const value = header[1];
  if (typeof value !== 'string' || unsafeBytes.test(value)) return false;
  if (writableNames.has(name)) return true;
  if (typeof name !== 'string' || !tokenPattern.test(name) || framingHeader.test(name)) return false;
  if (writableNames.size < 256) writableNames.add(name);
  return true;
}
