import Negotiator from 'negotiator';
import { RestStatusError } from './errorResponse.ts';

/**
 * In characters; a longer header is not read. Negotiator (1.1) takes quadratic time for one with an open quote: 17 ms
 * for 15,000 commas, 0.1 ms for 1,000.
 */
const longestAccept = 1024;

/**
 * The media type that a request accepts most (RFC 9110 §12.5.1); of several, the first.
 * @param accept the header `Accept`; any type is accepted without it
 * @throws {RestStatusError} 406 where it accepts none
 */
export function negotiate(accept: string | undefined, types: readonly string[]): string {
  // An empty list has no type to reject either.
  const isRead = accept !== undefined && accept !== '' && accept.length <= longestAccept;
  const headers = isRead ? { accept } : {};
  const [type] = new Negotiator({ headers }).mediaTypes([...types]);
  if (type !== undefined) return type;
  throw new RestStatusError('NOT_ACCEPTABLE', 406, `Accept must allow one of ${types.join(', ')}.`);
}
