// Hot path: called for every response.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { isBodyStream, type HttpResponse } from '../../http/response.ts';
import { byteLength, bufferedBody, hasNoContent } from '../server/responseHead.ts';

/** How the connection continues after a response. */
export type Ending =
  /** The connection serves the next request. */
  | 'keep-alive'
  /** The response has `Connection: close`. After a response with a body, uWS closes the connection. */
  | 'close'
  /** The server closes the connection, since the next bytes may not be the start of a request. */
  | 'force-close'
  /**
   * The response has `Connection: close`. If the connection must not be read any more, the caller has paused it.
   */
  | 'request-close';

export const connectionClose = '\r\nconnection: close';

/**
 * Maximum length of a body, in characters or bytes, that may be written without checking whether the socket takes it.
 */
const uncheckedLength = 1024;
/** Share of such bodies that are checked anyway. */
const checkedShare = 1 / 8;

/**
 * Writes a response that is not streamed. Must be called within uWS's handler or within `res.cork`.
 * @param head of the response, from `headOf`
 * @returns whether the socket has taken all of it; otherwise the rest of the body must be sent
 */
export function writeResponse(
  res: NativeResponse,
  head: string,
  { status, body }: HttpResponse,
  isHead: boolean,
  ending: Ending,
): boolean {
  const hasNoLength = hasNoContent(status);
  if (hasNoLength || isHead) {
    if (ending === 'force-close') {
      // Only `end` can close the connection. So this 204 has `Content-Length: 0`, which RFC 9110 §8.6 forbids, but all
      // clients accept. `endWithoutBody` with arguments leaves the response unfinished (uWebSockets.js 20).
      res.writeStatus(head).end('', true);
      return true;
    }
    // HEAD: the length of a stream is unknown.
    const length =
      hasNoLength || isBodyStream(body) ? '' : `\r\ncontent-length: ${byteLength(bufferedBody(body))}`;
    res.writeStatus(head + length + (ending === 'keep-alive' ? '' : connectionClose)).endWithoutBody();
    return true;
  }
  const responseBody = bufferedBody(body);
  if (ending === 'close' || ending === 'force-close') {
    res.writeStatus(head).end(responseBody, true);
    return true;
  }
  res.writeStatus(ending === 'keep-alive' ? head : head + connectionClose);
  // `end` buffers the bytes that the socket does not take, without a limit for a client that sends requests and does
  // not read. After a `tryEnd` that is not taken completely, the next request closes the connection (uWebSockets.js
  // 20). But `tryEnd` takes 0.4 µs more, 4% of a GET. So small bodies are checked at random: on average, 8 responses
  // are buffered when such a client is detected.
  if (responseBody.length <= uncheckedLength && Math.random() > checkedShare) {
    res.end(responseBody);
    return true;
  }
  return res.tryEnd(responseBody, byteLength(responseBody))[1];
}
