// Hot path: every response runs through it.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { isBodyStream, type HttpResponse } from '../../http/response.ts';
import { byteLength, wholeBody } from '../server/responseHead.ts';

/** What happens to the connection after a response. */
export type Ending =
  /** It serves the next request. */
  | 'keep-alive'
  /** The client is asked to close it; after a body uWS closes it. */
  | 'close'
  /** It is closed: what follows on it cannot be trusted to be a request. */
  | 'force-close'
  /** The client is asked to close it. Where nothing may be read from it any more, the caller has paused it. */
  | 'ask-to-close';

export const connectionClose = '\r\nconnection: close';

/** The largest body, in characters or bytes, that is written without asking whether the socket takes it. */
const uncheckedLength = 1024;
/** How many of these are checked all the same. */
const checkedShare = 1 / 8;

/**
 * Writes a response that is not streamed. Call it corked: in uWS's handler, or within `res.cork`.
 * @param head of the response, from `headOf`
 * @returns whether the socket has taken all of it; if not, the rest of the body must be sent
 */
export function writeResponse(
  res: NativeResponse,
  head: string,
  { status, body }: HttpResponse,
  isHead: boolean,
  ending: Ending,
): boolean {
  const hasNoLength = status === 204 || status === 304;
  if (hasNoLength || isHead) {
    if (ending === 'force-close') {
      // Only `end` can close the connection. So a forced 204 has `Content-Length: 0`, which RFC 9110 §8.6 forbids and every
      // client accepts; `endWithoutBody` with arguments leaves the response unfinished (uWebSockets.js 20).
      res.writeStatus(head).end('', true);
      return true;
    }
    // HEAD: the length of a stream is not known.
    const length =
      hasNoLength || isBodyStream(body) ? '' : `\r\ncontent-length: ${byteLength(wholeBody(body))}`;
    res.writeStatus(head + length + (ending === 'keep-alive' ? '' : connectionClose)).endWithoutBody();
    return true;
  }
  const sent = wholeBody(body);
  if (ending === 'close' || ending === 'force-close') {
    res.writeStatus(head).end(sent, true);
    return true;
  }
  res.writeStatus(ending === 'keep-alive' ? head : head + connectionClose);
  // `end` buffers what the socket does not take, without a bound for a client that sends requests and does not read. After
  // a `tryEnd` that is not taken the next request ends the connection (uWebSockets.js 20). But `tryEnd` takes 0.4 µs more,
  // 4% of a GET. So small bodies are checked at random: such a client has 8 of them buffered, on average, when it is found.
  if (sent.length <= uncheckedLength && Math.random() > checkedShare) {
    res.end(sent);
    return true;
  }
  return res.tryEnd(sent, byteLength(sent))[1];
}
