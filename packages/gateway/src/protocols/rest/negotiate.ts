import Negotiator from 'negotiator';
import { RestStatusError } from './errorResponse.ts';

/**
 * Maximum length of `Accept`, in characters; a longer one is ignored. Negotiator (1.1) needs quadratic time for an
 * unclosed quote: 17 ms for 15,000 commas, 0.1 ms for 1,000.
 */
const maxAcceptLength = 1024;

/**
 * Selects the media type that a request prefers (RFC 9110 §12.5.1); of several, the first of `types`.
 * @param accept the header `Accept`. `undefined` if it is missing or empty: the request accepts any type.
 * @throws {RestStatusError} 406 if the request accepts none of the types
 */
export function negotiate(accept: string | undefined, types: readonly string[]): string {
  const isRead = accept !== undefined && accept.length <= maxAcceptLength;
  const headers = isRead ? { accept } : {};
  const [type] = new Negotiator({ headers }).mediaTypes([...types]);
  if (type !== undefined) return type;
  throw new RestStatusError('NOT_ACCEPTABLE', 406, `Accept must allow one of ${types.join(', ')}.`);
}
