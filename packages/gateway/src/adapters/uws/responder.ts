// Hot path: called for every response.
import { Buffer } from 'node:buffer';
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from '@uwsjs/core';
import { hasNoContent, isBodyStream, type HttpResponse } from '../../http/response.ts';
import { busyResponse } from '../serve/rejections.ts';
import {
  bufferedBody,
  type BodySink,
  byteLength,
  headText,
  largeBodyLength,
  Responder,
} from '../serve/responder.ts';
import type { RequestLimits } from '../serve/requestHead.ts';
import { UwsRequest } from './request.ts';

/**
 * How the connection continues after a response:
 * - `keep-alive`: The connection serves the next request.
 * - `close`: The response has `Connection: close`. After a response with a body, uWS closes the connection.
 * - `force-close`: The server closes the connection, since the next bytes may not be the start of a request.
 * - `request-close`: The response has `Connection: close`. If the connection must not be read any more, the caller has
 *   paused it.
 */
type Ending = 'keep-alive' | 'close' | 'force-close' | 'request-close';

const connectionClose = '\r\nconnection: close';

/** Maximum length of a body, in characters or bytes, that may be written without checking whether the socket takes it. */
const uncheckedLength = 1024;
/** Share of such bodies that are checked anyway. */
const checkedShare = 1 / 8;

/** The head is written as the status, whose line breaks uWebSockets.js 20 keeps: further calls take 0.1 µs each. */
export class UwsResponder extends Responder<UwsRequest, string> {
  protected readonly headOf = headText;

  handler(limits: RequestLimits) {
    return (res: NativeResponse, req: NativeRequest): void => this.receive(new UwsRequest(res, req, limits));
  }

  /** Responds to a connection over the limit, before it sends a request. */
  writeBusy(res: NativeResponse): void {
    res.writeStatus(headText(busyResponse) ?? '').end(bufferedBody(busyResponse.body), true);
  }

  protected override writeLater({ res, isAborted }: UwsRequest, task: () => void): void {
    if (isAborted) task();
    else res.cork(task);
  }

  protected writeSmall(request: UwsRequest, head: string, response: HttpResponse): boolean {
    return write(request, head, response, this.isDraining ? 'close' : 'keep-alive');
  }

  /** @param isPaused whether the connection must not be read, see `pauseReading` */
  protected sendRest(request: UwsRequest, body: string | Uint8Array, isPaused = false): Promise<void> {
    const { res } = request;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return new Promise<void>((resolve) => {
      const send = (from: number): boolean => {
        const [isTaken, isDone] = res.tryEnd(bytes.subarray(from), bytes.byteLength);
        if (isDone) resolve();
        return isTaken;
      };
      const sendPaused = async (from: number) => {
        await pauseReading(request);
        if (!request.isAborted) res.cork(() => send(from));
      };
      request.whenAborted(() => resolve());
      res.onWritable((from) => {
        if (!isPaused) return send(from);
        void sendPaused(from);
        return true;
      });
    });
  }

  protected async sendWhole(request: UwsRequest, head: string, response: HttpResponse): Promise<void> {
    const { res } = request;
    const body = bufferedBody(response.body);
    const isLarge = body.length > largeBodyLength && request.method !== 'HEAD';
    const ending = this.#ending(request);
    // A client that is still sending would get a reset instead of the response, and `end` takes a large body at once
    // and continues to read in the meantime. So the connection is paused, not closed; uWS closes it when it is idle.
    const isPaused = ending === 'force-close' && (request.exceedsDiscardLimit || isLarge);
    if (isPaused) res.pause();
    const requestsClose = isPaused || (isLarge && ending !== 'keep-alive');
    let isSent = true;
    res.cork(() => {
      isSent = write(request, head, response, requestsClose ? 'request-close' : ending);
    });
    if (isSent) request.onResponseEnd();
    else await this.whenSent(request, body, () => this.sendRest(request, body, isPaused));
  }

  protected openStream(request: UwsRequest, head: string): BodySink {
    const { res } = request;
    const ending = this.#ending(request);
    let onDrained = () => {};
    // Set once: uWebSockets.js 20 discards a handler set while the previous one or its promise callbacks run.
    res.onWritable(() => {
      onDrained();
      return true;
    });
    res.cork(() => res.writeStatus(ending === 'keep-alive' ? head : head + connectionClose));
    return {
      write(chunk) {
        let isTaken = true;
        res.cork(() => (isTaken = res.write(chunk)));
        return isTaken ? undefined : new Promise<void>((resolve) => (onDrained = resolve));
      },
      async end() {
        if (ending === 'force-close') await pauseReading(request);
        // Without the argument that closes the connection: it would write "Connection: close" between the chunks
        // (uWebSockets.js 20). The head has this header, and clients close the connection.
        if (!request.isAborted) res.cork(() => res.end(''));
      },
    };
  }

  #ending(request: UwsRequest): Ending {
    // uWebSockets.js 20 parses the trailers of a chunked body as the next request, so the connection closes after one.
    if ((request.isLast || request.exceedsDiscardLimit) && !request.isClosedByUws) return 'force-close';
    return request.isLast || this.isDraining ? 'close' : 'keep-alive';
  }
}

/** Writes a whole response in uWS's handler or `res.cork`. @returns whether the socket took all of it */
function write(
  { res, method, isClosedByUws }: UwsRequest,
  head: string,
  { status, body }: HttpResponse,
  ending: Ending,
): boolean {
  const hasNoLength = hasNoContent(status);
  if (hasNoLength || method === 'HEAD') {
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
  const whole = typeof body === 'string' || body instanceof Uint8Array ? body : '';
  if (ending === 'close' || ending === 'force-close') {
    // uWS writes the header, except to a client that has sent it. That client may rely on it nevertheless: Node's agent
    // sends its next request on a connection whose response does not have it.
    res.writeStatus(isClosedByUws ? head + connectionClose : head).end(whole, true);
    return true;
  }
  res.writeStatus(ending === 'keep-alive' ? head : head + connectionClose);
  // `end` buffers what the socket does not take, without a limit for a client that never reads. After an incomplete
  // `tryEnd`, the next request closes the connection (uWebSockets.js 20), but it takes 0.4 µs more, 4% of a GET. So
  // small bodies are checked at random: some 8 responses are buffered before such a client is detected.
  if (whole.length <= uncheckedLength && Math.random() > checkedShare) {
    res.end(whole);
    return true;
  }
  return res.tryEnd(whole, byteLength(whole))[1];
}

/**
 * Stops reading from a connection that cannot close with the response: bytes of a next request stay in the kernel until
 * uWS closes it as idle, after 8 to 12 s. Call it when all is sent: a write that the socket does not take resumes
 * reading (uWebSockets.js 20). Until the response ends, a second request closes the connection anyway.
 */
async function pauseReading(request: UwsRequest): Promise<void> {
  // Not within uWS's `onWritable`: uWS would still read in the same turn.
  await new Promise(setImmediate);
  if (!request.isAborted) request.res.pause();
}
