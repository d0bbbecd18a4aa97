// Hot path: every response runs through it.
import { Buffer } from 'node:buffer';
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { isWritableHeader } from '../../http/headers.ts';
import { isBodyStream, type Header, type HttpResponse } from '../../http/response.ts';
import { statusText } from '../../http/statusText.ts';

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

/** A body of more than 64 KiB may fill the socket's buffers: it is sent as the socket takes it. */
const largeLength = 64 * 1024;

/** The lines of shared headers, which are checked and joined once. */
const sharedLines = new WeakMap<readonly Header[], string>();

function headerLines(headers: readonly Header[]): string | undefined {
  let lines = '';
  for (const header of headers) {
    if (!isWritableHeader(header)) return undefined;
    lines += `\r\n${header[0]}: ${header[1]}`;
  }
  return lines;
}

function sharedHeaderLines(headers: readonly Header[]): string | undefined {
  const known = sharedLines.get(headers);
  if (known !== undefined) return known;
  if (!headers.every(isWritableHeader)) return undefined;
  // Joined, not added up: V8 would put the pieces together again for each response, 0.3 µs.
  const lines = headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
  sharedLines.set(headers, lines);
  return lines;
}

/**
 * The status and the headers of a response, for `writeStatus`: uWebSockets.js 20 writes a status as it is, line breaks
 * included, and each further call costs 0.1 µs. `undefined` for a response that cannot be written, whatever the types say.
 */
export function headOf(response: HttpResponse): string | undefined {
  try {
    const { status, headers, sharedHeaders, body } = response;
    // Statuses below 200 do not end a request (RFC 9110 §15.2).
    if (!Number.isInteger(status) || status < 200 || status > 999) return undefined;
    if (
      typeof body !== 'string' &&
      !(body === undefined || body instanceof Uint8Array || isBodyStream(body))
    ) {
      return undefined;
    }
    const shared = sharedHeaders ? sharedHeaderLines(sharedHeaders) : '';
    const own = headerLines(headers);
    if (shared === undefined || own === undefined) return undefined;
    return `${status} ${statusText(status)}${shared}${own}`;
  } catch {
    // It is no object, say.
    return undefined;
  }
}

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

export const isLarge = (body: HttpResponse['body']): boolean => wholeBody(body).length > largeLength;

export const wholeBody = (body: HttpResponse['body']): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : '';

const byteLength = (body: string | Uint8Array): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
