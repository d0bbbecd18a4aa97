import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { discardStream, type BodyStream } from '../../http/response.ts';
import type { UwsRequest } from './request.ts';
import { connectionClose, type Ending } from './writeResponse.ts';

/**
 * Sends a streamed body: the next chunk is requested when the socket has taken the previous one. A stream that fails
 * closes the connection, so that the client does not take a part for the whole.
 * @param head of the response, from `headOf`
 * @returns when all is sent, or the client has disconnected: the stream's producer may take longer to end
 */
export async function streamResponse(
  res: NativeResponse,
  request: UwsRequest,
  head: string,
  body: BodyStream,
  ending: Ending,
): Promise<void> {
  // What the loop waits for, one thing at a time, ends early when the client disconnects. Not `Promise.race` with a promise
  // of that: each race would add its reactions to it for as long as the stream lives.
  let interrupt = () => {};
  const unlessAborted = <T>(pending: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      interrupt = () => resolve(undefined);
      pending.then(resolve, reject);
    });
  request.whenAborted(() => interrupt());
  let onDrained = () => {};
  // Once: a handler that is set while the last one runs, as its promises do, is thrown away (uWebSockets.js 20).
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
        // Without closing: that would write "Connection: close" in between the chunks (uWebSockets.js 20). The head has
        // it, and clients act on it.
        res.cork(() => res.end(''));
        request.ended();
        return;
      }
      let isTaken = true;
      // uWS writes nothing for an empty chunk, which would end the response (RFC 9112 §7.1).
      res.cork(() => (isTaken = res.write(next.value)));
      if (!isTaken) await unlessAborted(new Promise<void>((resolve) => (onDrained = resolve)));
    }
  } catch {
    if (!request.hasEnded) res.close();
  }
  void discardStream({ [Symbol.asyncIterator]: () => chunks });
}

/**
 * Stops reading from a connection that cannot be closed with the response: what would be taken for the next request stays
 * in the kernel until uWS finds the connection idle, 10 to 12 s later. Call it when all that was written is out: a write
 * that the socket does not take makes uWebSockets.js 20 read again. Until the response has ended, a second request ends the
 * connection anyway.
 */
export async function pauseReading(res: NativeResponse, request: UwsRequest): Promise<void> {
  // Not in uWS's `onWritable`: it would read in the same turn.
  await new Promise(setImmediate);
  if (!request.isAborted) res.pause();
}
