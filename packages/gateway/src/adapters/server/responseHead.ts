// Hot path: every response runs through it.
import { Buffer } from 'node:buffer';
import { isWritableHeader } from '../../http/headers.ts';
import { isBodyStream, type Header, type HttpResponse } from '../../http/response.ts';
import { statusText } from '../../http/statusText.ts';

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
 * The status line behind the version, and the headers of a response, as text without its last line break. uWebSockets.js 20
 * writes a status as it is, line breaks included, and each further call costs 0.1 µs. `undefined` for a response that
 * cannot be written, whatever the types say.
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

export const isLarge = (body: HttpResponse['body']): boolean => wholeBody(body).length > largeLength;

export const wholeBody = (body: HttpResponse['body']): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : '';

export const byteLength = (body: string | Uint8Array): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
