import type { Header } from './response.ts';

/** A token, as methods and header names are (RFC 9110 §5.6.2). */
export const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex -- these are the bytes that a header must not have
const unsafe = /[\0\r\n]/;
/** What frames a message is the host's to write. */
const framing = /^(?:connection|content-length|transfer-encoding)$/i;

/** Names that were found good, each with a value that was too: most headers of most answers are the same. */
const good = new Map<string, string>();
/** The last value that its maker vouched for. */
let vouched = '';

/** Says of a header's value that is about to be written that it may be: to look through it costs more than to make it. */
export function vouch(value: string): string {
  vouched = value;
  return value;
}

/**
 * Whether a header may be written. uWebSockets.js writes what it is given: a CR or LF in a value would start another
 * header, or another response, of its sender's choice; and it throws at what is no string.
 */
export function isWritableHeader(header: Header): boolean {
  // Not by a pattern in the parameter: that iterates.
  const name = header[0];
  const value = header[1];
  const known = good.get(name);
  if (known !== undefined && (value === vouched || value === known)) return true;
  if (typeof value !== 'string' || unsafe.test(value)) return false;
  if (known !== undefined) return true;
  if (typeof name !== 'string' || !token.test(name) || framing.test(name)) return false;
  // A service has few; who makes names up as it goes is not to fill the memory.
  if (good.size < 256) good.set(name, value);
  return true;
}
