import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { discardStream, type BodyStream } from '../../http/response.ts';
import type { UwsRequest } from './request.ts';
import { connectionClose, type Ending } from './writeResponse.ts';

/**
 * Sends a streamed body with backpressure: requests the next chunk when the socket has taken the previous one. If the
 * stream fails, the connection is closed, so that the client notices that the body is incomplete. Resolves when
 * everything is sent or the client has disconnected; the producer of the stream may end later.
 * @param head of the response, from `headOf`
 */
export async function streamResponse(
  res: NativeResponse,
  request: UwsRequest,
  head: string,
  body: BodyStream,
  ending: Ending,
): Promise<void> {
  // The loop waits for one promise at a time, and stops waiting when the client disconnects. With `Promise.race`, each
  // race would add reactions to the promise of the disconnect that live as long as the stream.
  let interrupt = () => {};
  const unlessAborted = <T>(pending: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      interrupt = () => resolve(undefined);
      pending.then(resolve, reject);
    });
  request.whenAborted(() => interrupt());
  let onDrained = () => {};
  // Set only once: uWebSockets.js 20 discards a handler that is set while the previous one, or its promise callbacks,
  // run.
  res.onWritable(() => {
    onDrained();
    return true;
  });
  res.cork(() => res.writeStatus(ending === 'keep-alive' ? head : head + connectionClose));
  const chunks = body[Symbol.asyncIterator]();
  try {
    while (!request.isAborted) {
      const next = await unlessAborted(chunks.next());
      if (next === undefined || request.isAborted) break;
      if (next.done) {
        if (ending === 'force-close') await pauseReading(res, request);
        if (request.isAborted) return;
        request.discardBody();
        // Without the argument that closes the connection: it would write "Connection: close" between the chunks
        // (uWebSockets.js 20). The head has this header, and clients close the connection.
        res.cork(() => res.end(''));
        request.onResponseEnd();
        return;
      }
      let isTaken = true;
      // An empty chunk would end the response (RFC 9112 §7.1), but uWS writes nothing for it.
      res.cork(() => (isTaken = res.write(next.value)));
      if (!isTaken) await unlessAborted(new Promise<void>((resolve) => (onDrained = resolve)));
    }
  } catch {
    if (!request.hasEnded) res.close();
  }
  void discardStream({ [Symbol.asyncIterator]: () => chunks });
}

/**
 * Stops reading from a connection that cannot be closed with the response. Bytes that would be parsed as the next
 * request stay in the kernel until uWS closes the idle connection, 10 to 12 s later. Call it after everything written
 * was sent: a write that the socket does not take makes uWebSockets.js 20 read again. Before the response has ended, a
 * second request closes the connection anyway.
 */
export async function pauseReading(res: NativeResponse, request: UwsRequest): Promise<void> {
  // Not within uWS's `onWritable`: uWS would still read in the same turn.
  await new Promise(setImmediate);
  if (!request.isAborted) res.pause();
}
