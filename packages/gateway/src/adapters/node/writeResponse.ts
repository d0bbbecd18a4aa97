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
import { byteLength, wholeBody } from '../server/responseHead.ts';
import type { NodeRequest } from './request.ts';

/** How many bytes of a whole body are passed to Node at once. */
const sliceBytes = 65_536;

/** Waits for one thing at a time, and no longer than the client is connected. */
type UnlessAborted = <T>(pending: Promise<T>) => Promise<T | undefined>;

/** One listener for all that a response waits for: `Promise.race` would add its reactions for as long as the response lives. */
function unlessAborted(request: NodeRequest): UnlessAborted {
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
 * @throws where Node rejects it: a control character in a value, say
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
  const hasNoLength = status === 204 || status === 304 || isBodyStream(body);
  if (!hasNoLength) headers.push('Content-Length', String(byteLength(wholeBody(body))));
  // Node closes the connection behind a response that says so.
  if (isClosing) headers.push('Connection', 'close');
  // Without a length and a body Node would announce chunks.
  if (isHead && isBodyStream(body)) res.removeHeader('transfer-encoding');
  res.writeHead(status, statusText(status), headers);
}

/** Text as Node writes it, which takes each character for a byte: UTF-8, as the other adapters write it. */
const latin1 = (value: string): string =>
  Buffer.byteLength(value) === value.length ? value : Buffer.from(value).toString('latin1');

/**
 * Sends a whole body as the client takes it.
 * @returns when it is sent, or the client has disconnected
 */
export async function sendBody(request: NodeRequest, body: string | Uint8Array): Promise<void> {
  const { res } = request;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const wait = unlessAborted(request);
  for (let from = 0; from < bytes.byteLength && !request.isAborted; from += sliceBytes) {
    if (!res.write(bytes.subarray(from, from + sliceBytes))) await wait(drained(res));
  }
}

/** Ends a response. @returns when it is sent, or the client has disconnected */
export async function endResponse(request: NodeRequest): Promise<void> {
  if (request.isAborted) return;
  const wait = unlessAborted(request);
  await wait(new Promise<void>((resolve) => request.res.end(resolve)));
}

/**
 * Sends a streamed body: the next chunk is requested when the connection has taken the previous one. A stream that fails
 * closes the connection, so that the client does not take a part for the whole.
 * @returns when all is sent, or the client has disconnected: the stream's producer may take longer to end
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
      if (next.value.byteLength !== 0 && !res.write(next.value)) await wait(drained(res));
    }
  } catch {
    request.controlBody('close');
  }
  void discardStream({ [Symbol.asyncIterator]: () => chunks });
}

const drained = (res: ServerResponse) => new Promise<void>((resolve) => res.once('drain', resolve));
