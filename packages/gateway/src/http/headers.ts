import type { Header } from './response.ts';

/** A token, as methods and header names are (RFC 9110 §5.6.2). */
export const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex -- these are the bytes that a header must not have
const unsafe = /[\0\r\n]/;
/** Headers that frame the message: only the adapter writes them. */
const framing = /^(?:connection|content-length|transfer-encoding)$/i;

/** Names that passed the checks. Bounded, since a service may make up names for each response. */
const writableNames = new Set<string>();

/**
 * Whether an adapter may write a header. uWebSockets.js writes CR and LF as they are: in a value they would begin another
 * header, or another response. Whatever the types say, a name or value that is not a string is rejected.
 */
export function isWritableHeader(header: Header): boolean {
  // Hot path: destructuring would run an iterator.
  const name = header[0];
  const value = header[1];
  if (typeof value !== 'string' || unsafe.test(value)) return false;
  if (writableNames.has(name)) return true;
  if (typeof name !== 'string' || !token.test(name) || framing.test(name)) return false;
  if (writableNames.size < 256) writableNames.add(name);
  return true;
}
