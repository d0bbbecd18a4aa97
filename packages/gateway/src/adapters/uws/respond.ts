import { Buffer } from 'node:buffer';
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { isBodyStream, type BodyStream, type HttpResponse } from '../../http/response.ts';
import type { UwsRequest } from './request.ts';
import { writeHead } from './responseHead.ts';

/** What becomes of the connection after an answer. */
export type Ending =
  /** It is kept for the next request. */
  | 'keep'
  /** The client is told to close it: the server is stopping. */
  | 'close'
  /** It is closed, or at least not read from any more: what follows on it cannot be trusted to be a request. */
  | 'cut'
  /** The answer says `Connection: close`. The caller has paused the connection: nothing more is read from it. */
  | 'paused';

/**
 * Writes a whole response. Called corked: in the handler, or within `res.cork`.
 * @returns whether that is all: what the socket has not taken yet, `sendRest` sends
 */
export function writeResponse(
  res: NativeResponse,
  response: HttpResponse,
  isHead: boolean,
  ending: Ending,
): boolean {
  const { status, body } = response;
  const isEmpty = status === 204 || status === 304;
  writeHead(res, response);
  if (ending === 'paused') res.writeHeader('connection', 'close');
  if ((ending === 'keep' || ending === 'paused') && !isEmpty && !isHead) {
    // Not `end`: of a client that pipelines requests and does not read it would keep every answer, 300 MB for 5,000
    // requests of 27 bytes. This way the next request on a connection that takes no more ends it (uWebSockets.js 20).
    const given = whole(body) ?? '';
    return res.tryEnd(given, byteLength(given))[1];
  }
  if ((!isEmpty && !isHead) || ending === 'cut') {
    // Only `end` can close the connection. So a 204 that must says `Content-Length: 0`, which RFC 9110 §8.6 forbids and
    // every client bears; `endWithoutBody` with arguments leaves the response unfinished (uWebSockets.js 20).
    res.end(isEmpty || isHead ? '' : (whole(body) ?? ''), ending !== 'keep');
    return true;
  }
  // A streamed body has no length that could be told.
  if (isHead && !isEmpty && !isBodyStream(body)) res.writeHeader('content-length', String(byteLength(body)));
  if (ending === 'close') res.writeHeader('connection', 'close');
  res.endWithoutBody();
  return true;
}

/** Sends what a socket did not take of a body at once; resolves when it has, or its client is gone. */
export function sendRest(res: NativeResponse, request: UwsRequest, body: string | Uint8Array): Promise<void> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return new Promise((resolve) => {
    request.signal.addEventListener('abort', () => resolve(), { once: true });
    res.onWritable((from) => {
      const [isTaken, isDone] = res.tryEnd(bytes.subarray(from), bytes.byteLength);
      if (isDone) resolve();
      return isTaken;
    });
  });
}

export const whole = (body: HttpResponse['body']): string | Uint8Array | undefined =>
  typeof body === 'string' || body instanceof Uint8Array ? body : undefined;

export const byteLength = (body: string | Uint8Array | undefined): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : (body?.byteLength ?? 0);

/**
 * Sends a streamed body: the next chunk is pulled when the socket has taken the last. A stream that fails ends the
 * connection, since its head is out: nobody is to take the part for the whole.
 * @returns when all is sent, or the client is gone: then the stream's producer is told, and may take its time
 */
export async function streamResponse(
  res: NativeResponse,
  request: UwsRequest,
  response: HttpResponse,
  body: BodyStream,
  ending: Ending,
): Promise<void> {
  // What the loop waits for, one thing at a time, ends early when the client goes away. Not a race with a promise of
  // that: each race would leave its reactions on it for as long as the stream lives.
  let interrupt = () => {};
  const unlessGone = <T>(pending: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      interrupt = () => resolve(undefined);
      pending.then(resolve, reject);
    });
  let whenDrained = () => {};
  const drained = () =>
    new Promise<void>((resolve) => {
      whenDrained = resolve;
    });
  // Once: a handler that is set while the last one runs, as its promises do, is thrown away (uWebSockets.js 20).
  res.onWritable(() => {
    whenDrained();
    return true;
  });
  request.signal.addEventListener('abort', () => interrupt(), { once: true });
  res.cork(() => {
    writeHead(res, response);
    if (ending !== 'keep') res.writeHeader('connection', 'close');
  });
  const chunks = body[Symbol.asyncIterator]();
  try {
    while (!request.isAborted) {
      const next = await unlessGone(chunks.next());
      if (next === undefined || request.isAborted) break;
      if (next.done) {
        if (ending === 'cut') await deafen(res, request);
        if (request.isAborted) return;
        request.discardBody();
        // Never told here to close: it would write "Connection: close" in between the chunks (uWebSockets.js 20). The
        // head has it, and clients act on it.
        res.cork(() => res.end(''));
        request.ended();
        return;
      }
      let isTaken = true;
      // uWS writes nothing for an empty chunk, which would end the response (RFC 9112 §7.1).
      res.cork(() => (isTaken = res.write(next.value)));
      if (!isTaken) await unlessGone(drained());
    }
  } catch {
    if (!request.isOver) res.close();
    return;
  }
  void stopStream(chunks);
}

/**
 * Reads no more from a connection that cannot be closed with the answer: what would be taken for the next request stays
 * in the kernel until uWS finds the connection idle, 10 to 12 s later. To be called when all that was written is out,
 * since a write that fails makes uWebSockets.js 20 read again; until the answer has ended, a second request ends the
 * connection anyway.
 */
async function deafen(res: NativeResponse, request: UwsRequest): Promise<void> {
  // Not in what uWS calls when the socket is writable: it would read in the same turn.
  await new Promise(setImmediate);
  if (!request.isAborted) res.pause();
}

/** Tells a stream's producer that nobody takes more. How it ends, or fails, is nobody's concern. */
async function stopStream(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await chunks.return?.();
  } catch {
    // The client is gone, and the producer has told its own log.
  }
}

/** A body of this size may fill the socket's buffers: it is sent as the socket takes it, and waited for. */
const largeBytes = 64 * 1024;

export const isLarge = (body: HttpResponse['body']): body is string | Uint8Array =>
  (typeof body === 'string' || body instanceof Uint8Array) && body.length > largeBytes;

/**
 * Sends a large body; resolves when the socket has taken all of it, or its client is gone. Not told to close when it has:
 * for that there is only `end`, which takes all at once and reads on meanwhile.
 */
export function sendLarge(
  res: NativeResponse,
  request: UwsRequest,
  response: HttpResponse,
  body: string | Uint8Array,
  ending: Ending,
): Promise<void> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return new Promise((resolve) => {
    const send = (from: number): boolean => {
      const [isTaken, isDone] = res.tryEnd(from === 0 ? bytes : bytes.subarray(from), bytes.byteLength);
      if (isDone) resolve();
      return isTaken;
    };
    const sendDeaf = async (from: number) => {
      await deafen(res, request);
      if (!request.isAborted) res.cork(() => send(from));
    };
    request.signal.addEventListener('abort', () => resolve(), { once: true });
    res.onWritable((from) => {
      if (ending !== 'cut') return send(from);
      void sendDeaf(from);
      return true;
    });
    if (ending === 'cut') res.pause();
    res.cork(() => {
      writeHead(res, response);
      if (ending !== 'keep') res.writeHeader('connection', 'close');
      send(0);
    });
  });
}
