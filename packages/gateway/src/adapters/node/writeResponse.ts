import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import {
  discardStream,
  headersOf,
  isBodyStream,
  type BodyStream,
  type HttpResponse,
} from '../../http/response.ts';
import { statusText } from '../../http/statusText.ts';
import { bufferedBody, byteLength, hasNoContent } from '../server/responseHead.ts';
import type { NodeRequest } from './request.ts';

/** Size of the slices in which a whole body is passed to Node. */
const sliceBytes = 65_536;

/** Waits for a promise, or until the client disconnects. Only one promise can be pending at a time. */
type WaitUnlessAborted = <T>(pending: Promise<T>) => Promise<T | undefined>;

/**
 * Creates a function that waits for promises of one response, with a single abort listener. `Promise.race` would add
 * reactions that live as long as the response.
 */
function unlessAborted(request: NodeRequest): WaitUnlessAborted {
  let interrupt = () => {};
  request.whenAborted(() => interrupt());
  return (pending) =>
    new Promise((resolve, reject) => {
      interrupt = () => resolve(undefined);
      if (request.isAborted) interrupt();
      pending.then(resolve, reject);
    });
}

/**
 * Writes the head of a response.
 * @throws if Node rejects it, for example for a control character in a value
 */
export function writeHead(
  res: ServerResponse,
  response: HttpResponse,
  isHead: boolean,
  isClosing: boolean,
): void {
  const { status, body } = response;
  const headers: string[] = [];
  for (const [name, value] of headersOf(response)) headers.push(name, latin1(value));
  const hasNoLength = hasNoContent(status) || isBodyStream(body);
  if (!hasNoLength) headers.push('Content-Length', String(byteLength(bufferedBody(body))));
  // Node closes the connection after a response with this header.
  if (isClosing) headers.push('Connection', 'close');
  // Node would announce a chunked body, since there is no length.
  if (isHead && isBodyStream(body)) res.removeHeader('transfer-encoding');
  res.writeHead(status, statusText(status), headers);
}

/** Encodes a header value as UTF-8, as the other adapters do. Node writes each character of the result as one byte. */
const latin1 = (value: string): string =>
  Buffer.byteLength(value) === value.length ? value : Buffer.from(value).toString('latin1');

/** Sends a whole body with backpressure. Resolves when it is sent or the client has disconnected. */
export async function sendBody(request: NodeRequest, body: string | Uint8Array): Promise<void> {
  const { res } = request;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const wait = unlessAborted(request);
  for (let from = 0; from < bytes.byteLength && !request.isAborted; from += sliceBytes) {
    if (!res.write(bytes.subarray(from, from + sliceBytes))) await wait(untilDrained(res));
  }
}

/** Ends a response. Resolves when it is sent or the client has disconnected. */
export async function endResponse(request: NodeRequest): Promise<void> {
  if (request.isAborted) return;
  const wait = unlessAborted(request);
  await wait(new Promise<void>((resolve) => request.res.end(resolve)));
}

/**
 * Sends a streamed body with backpressure: requests the next chunk when the socket has taken the previous one. If the
 * stream fails, the connection is closed, so that the client notices that the body is incomplete. Resolves when
 * everything is sent or the client has disconnected; the producer of the stream may end later.
 */
export async function sendStream(request: NodeRequest, body: BodyStream): Promise<void> {
  const { res } = request;
  const wait = unlessAborted(request);
  res.flushHeaders();
  const chunks = body[Symbol.asyncIterator]();
  try {
    while (!request.isAborted) {
      const next = await wait(chunks.next());
      if (next === undefined || request.isAborted) break;
      if (next.done) {
        request.discardBody();
        return await endResponse(request);
      }
      // An empty chunk would end the response (RFC 9112 §7.1).
      if (next.value.byteLength !== 0 && !res.write(next.value)) await wait(untilDrained(res));
    }
  } catch {
    request.controlBody('close');
  }
  void discardStream({ [Symbol.asyncIterator]: () => chunks });
}

const untilDrained = (res: ServerResponse) => new Promise<void>((resolve) => res.once('drain', resolve));
