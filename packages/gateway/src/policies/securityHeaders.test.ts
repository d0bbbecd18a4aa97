import { expect, it } from 'vitest';
import { type Header, headersOf, OutgoingResponse } from '../http/response.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { type ProtocolName, RequestContext } from '../calls/requestContext.ts';
import { securityHeadersPolicy } from './securityHeaders.ts';

/** Returns the security headers of a response. */
function complete(
  isProtected: boolean,
  protocol: ProtocolName,
  context: object,
  draft: OutgoingResponse,
): Header[] {
  const requestContext = new RequestContext(inProcessRequest('GET', '/'), protocol, 0);
  void securityHeadersPolicy(isProtected).complete?.(Object.assign(requestContext, context), draft);
  return headersOf(draft).filter(([name]) => /^(?:cache-control|x-content-type-options)$/i.test(name));
}

const draftOf = (own: readonly Header[] = [], shared: readonly Header[] = []) =>
  new OutgoingResponse(200, [...own], '', shared);
const nosniff: Header = ['x-content-type-options', 'nosniff'];
const noStore: Header = ['cache-control', 'no-store'];
const credential = { credential: 'a' };

it.each<[own: readonly Header[], shared: readonly Header[], expected: readonly Header[]]>([
  [[['Cache-Control', 'max-age=1']], [], [nosniff, ['Cache-Control', 'max-age=1']]],
  [[['X-Content-Type-Options', 'nosniff']], [], [noStore, ['X-Content-Type-Options', 'nosniff']]],
  [[], [['Cache-Control', 'max-age=1']], [['Cache-Control', 'max-age=1'], nosniff]],
  [[], [['X-Content-Type-Options', 'nosniff']], [['X-Content-Type-Options', 'nosniff'], noStore]],
  [[noStore, nosniff], [], [noStore, nosniff]],
])('a response with the headers %j and the shared headers %j gets each security header once', (...row) => {
  const [own, shared, expected] = row;
  expect(complete(true, 'rest', credential, draftOf(own, shared))).toEqual(expected);
  // The shared list is used by other responses.
  expect(complete(true, 'rest', credential, draftOf([], shared))).toHaveLength(2);
});
