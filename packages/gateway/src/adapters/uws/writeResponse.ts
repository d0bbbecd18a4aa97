// Hot path: every response runs through it.
import { Buffer } from 'node:buffer';
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { isWritableHeader } from '../../http/headers.ts';
import { isBodyStream, type Header, type HttpResponse } from '../../http/response.ts';
import { statusText } from '../../http/statusText.ts';
import type { UwsRequest } from './request.ts';

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

/** Whether a response can be written as it is, whatever the types say. */
export function isWritable({ status, headers, sharedHeaders, body }: HttpResponse): boolean {
  // Statuses below 200 do not end a request (RFC 9110 §15.2).
  if (!Number.isInteger(status) || status < 200 || status > 999) return false;
  if (sharedHeaders && sharedHeaders.length > 0 && headerBlock(sharedHeaders) === null) return false;
  for (const header of headers) if (!isWritableHeader(header)) return false;
  return body === undefined || typeof body === 'string' || body instanceof Uint8Array || isBodyStream(body);
}

export function writeHead(res: NativeResponse, { status, headers, sharedHeaders }: HttpResponse): void {
  // uWS writes 200 by itself.
  if (status !== 200) res.writeStatus(`${status} ${statusText(status)}`);
  const block = sharedHeaders && headerBlock(sharedHeaders);
  if (block) res.writeHeader(block.name, block.rest);
  for (const header of headers) res.writeHeader(header[0], header[1]);
}

/** Several headers, written by one call: the first one's name; its value, and the other headers behind it. */
interface HeaderBlock {
  readonly name: string;
  readonly rest: string;
}

/** `null`: not all of the headers can be written. */
const blocks = new WeakMap<readonly Header[], HeaderBlock | null>();

/**
 * The block of shared headers. Its lines are checked when it is made, once. uWebSockets.js 20 writes a value as it is, line
 * breaks included: one call for all takes 0.6 µs less than one for each of seven, 5% of a GET that has them.
 */
function headerBlock(headers: readonly Header[]): HeaderBlock | null {
  const known = blocks.get(headers);
  if (known !== undefined) return known;
  const [first, ...others] = headers;
  const isWritableBlock = first !== undefined && headers.every(isWritableHeader);
  const block = isWritableBlock
    ? { name: first[0], rest: [first[1], ...others.map(([name, value]) => `${name}: ${value}`)].join('\r\n') }
    : null;
  blocks.set(headers, block);
  return block;
}

/**
 * Writes a response that is not streamed. Call it corked: in uWS's handler, or within `res.cork`.
 * @returns whether the socket has taken all of it; if not, call `sendRest`
 */
export function writeResponse(
  res: NativeResponse,
  response: HttpResponse,
  isHead: boolean,
  ending: Ending,
): boolean {
  const { status, body } = response;
  const hasBody = status !== 204 && status !== 304 && !isHead;
  writeHead(res, response);
  if (ending === 'ask-to-close') res.writeHeader('connection', 'close');
  if (hasBody && (ending === 'keep-alive' || ending === 'ask-to-close')) {
    // Not `end`: it would buffer every response for a client that pipelines requests and does not read, 300 MB for 5,000
    // requests of 27 bytes. After `tryEnd` the next request on a connection that takes no more ends it (uWebSockets.js 20).
    const sent = wholeBody(body);
    return res.tryEnd(sent, byteLength(sent))[1];
  }
  if (hasBody || ending === 'force-close') {
    // Only `end` can close the connection. So a forced 204 has `Content-Length: 0`, which RFC 9110 §8.6 forbids and every
    // client accepts; `endWithoutBody` with arguments leaves the response unfinished (uWebSockets.js 20).
    res.end(hasBody ? wholeBody(body) : '', true);
    return true;
  }
  // HEAD: the length of a stream is not known.
  if (isHead && status !== 204 && status !== 304 && !isBodyStream(body)) {
    res.writeHeader('content-length', String(byteLength(wholeBody(body))));
  }
  if (ending === 'close') res.writeHeader('connection', 'close');
  res.endWithoutBody();
  return true;
}

/**
 * Sends the bytes of a body that the socket has not taken.
 * @param isPaused whether the connection must not be read: see `pauseReading`
 * @returns when the socket has taken all, or the client has disconnected
 */
export function sendRest(
  res: NativeResponse,
  request: UwsRequest,
  body: string | Uint8Array,
  isPaused: boolean,
): Promise<void> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return new Promise((resolve) => {
    const send = (from: number): boolean => {
      const [isTaken, isDone] = res.tryEnd(bytes.subarray(from), bytes.byteLength);
      if (isDone) resolve();
      return isTaken;
    };
    const sendPaused = async (from: number) => {
      await pauseReading(res, request);
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

/** A body of more than 64 KiB may fill the socket's buffers: it is sent as the socket takes it. */
export const isLarge = (body: HttpResponse['body']): body is string | Uint8Array =>
  (typeof body === 'string' || body instanceof Uint8Array) && body.length > 64 * 1024;

export const wholeBody = (body: HttpResponse['body']): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : '';

export const byteLength = (body: string | Uint8Array): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
