import { joinBytes } from './request.ts';

/** Headers of a part of a `multipart/form-data` body (RFC 7578). */
export interface PartHead {
  readonly name: string;
  /** `undefined` for a text field. */
  readonly filename: string | undefined;
  readonly type: string;
}

/** Thrown for an invalid body. The message is a sentence for the client. */
export class MultipartError extends Error {
  override readonly name = 'MultipartError';
}

const maxHeadBytes = 8192;
const encoder = new TextEncoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the boundary. @throws {MultipartError} without one, or over 70 characters (RFC 2046 §5.1.1) */
export function boundaryOf(contentType: string): string {
  const [, quoted, unquoted] =
    /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70})(?=[\s;]|$))/i.exec(contentType) ?? [];
  const boundary = quoted ?? unquoted;
  if (boundary === undefined) {
    throw new MultipartError('The Content-Type must have a boundary of 1 to 70 characters.');
  }
  return boundary;
}

/**
 * Parses a body while it arrives: the head of each part, then its bytes in pieces with memory of their own. It reads as
 * far as the next item needs, and buffers at most a chunk and a head. @remix-run/multipart-parser 0.16.3 holds each
 * part in memory, busboy needs Node's streams, and multipasta 0.2.8 has no backpressure.
 * @throws {MultipartError} for an invalid body
 */
export async function* parseMultipart(
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
  boundary: string,
): AsyncGenerator<PartHead | Uint8Array<ArrayBuffer>, void> {
  const source = body[Symbol.asyncIterator]();
  const delimiter = createSearch(`\r\n--${boundary}`);
  // The first delimiter may be at the start of the body.
  let bytes: Uint8Array<ArrayBuffer> = encoder.encode('\r\n');
  const receive = async () => {
    const chunk = await source.next();
    if (chunk.done) throw new MultipartError('The body ends before its last boundary.');
    bytes = joinBytes(bytes.length === 0 ? [chunk.value] : [bytes, chunk.value]);
  };
  try {
    for (let isPreamble = true; ; isPreamble = false) {
      for (;;) {
        const end = delimiter.indexIn(bytes);
        // The last bytes may be the start of a delimiter. If they are not, the chunk is yielded without a copy.
        const next = end === -1 ? bytes.indexOf(carriageReturn, 1 - delimiter.length) : end;
        const pieceLength = next === -1 ? bytes.length : next;
        if (pieceLength > 0) {
          const piece = bytes.subarray(0, pieceLength);
          // Copies whichever of the two is usually smaller, so that they share no memory.
          bytes = end === -1 ? bytes.slice(pieceLength) : bytes.subarray(pieceLength);
          if (!isPreamble) yield end === -1 ? piece : piece.slice();
        }
        if (end !== -1) break;
        await receive();
      }
      bytes = bytes.subarray(delimiter.length);
      while (bytes.length < 2) await receive();
      if (bytes[0] === hyphen && bytes[1] === hyphen) return;
      let end: number;
      while ((end = headEnd.indexIn(bytes)) === -1) {
        if (bytes.length > maxHeadBytes) break;
        await receive();
      }
      if (end === -1 || end > maxHeadBytes) {
        throw new MultipartError(`The headers of a part are larger than ${maxHeadBytes} bytes.`);
      }
      yield readPartHead(bytes.subarray(0, end));
      bytes = bytes.subarray(end + headEnd.length);
    }
  } finally {
    await source.return?.();
  }
}

const hyphen = 0x2d;
const carriageReturn = 0x0d;

/** Creates the search for a text by Horspool's algorithm: it inspects about one byte in n for a text of n bytes. */
function createSearch(text: string) {
  const bytes = encoder.encode(text);
  const last = bytes.length - 1;
  /** How far the search may advance, by the byte at the end of its window. */
  const skips = new Uint8Array(256).fill(bytes.length);
  for (let at = 0; at < last; at += 1) skips[bytes[at] ?? 0] = last - at;
  return {
    length: bytes.length,
    indexIn(body: Uint8Array): number {
      for (let end = last; end < body.length; end += skips[body[end] ?? 0] ?? 1) {
        let at = last;
        while (at >= 0 && body[end - last + at] === bytes[at]) at -= 1;
        if (at < 0) return end - last;
      }
      return -1;
    },
  };
}

const headEnd = createSearch('\r\n\r\n');

/** @throws {MultipartError} for invalid headers */
function readPartHead(bytes: Uint8Array): PartHead {
  let text: string;
  try {
    text = strictDecoder.decode(bytes);
  } catch {
    throw new MultipartError('The headers of a part are not valid UTF-8.');
  }
  // Only padding may follow a boundary on its line (RFC 2046 §5.1.1).
  const [padding = '', ...lines] = text.split('\r\n');
  if (padding.trim() !== '') throw new MultipartError('A boundary is followed by other text on its line.');
  let disposition = '';
  let type: string | undefined;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).trim();
    const name = line.slice(0, colon).toLowerCase();
    if (name === 'content-disposition') disposition = value;
    else if (name === 'content-type') type = value;
  }
  const parameters = new Map(
    Array.from(disposition.matchAll(parameterPattern), ([, key = '', quoted, unquoted]) => [
      key.toLowerCase(),
      quoted === undefined ? (unquoted ?? '') : unescapeQuotes(quoted),
    ]),
  );
  const name = parameters.get('name');
  if (!/^form-data(?:\s*;|$)/i.test(disposition) || name === undefined) {
    throw new MultipartError('Every part must have the header Content-Disposition: form-data with a name.');
  }
  // `filename*` is not allowed in a form (RFC 7578 §4.2).
  const filename = parameters.get('filename');
  return {
    name,
    filename,
    type: type ?? (filename === undefined ? 'text/plain' : 'application/octet-stream'),
  };
}

const parameterPattern = /;\s*([\w*-]+)=(?:"([^"]*)"|([^\s;"]*))/g;

/** Decodes the three characters that browsers encode (HTML Standard §4.10.21.8). A backslash is not an escape. */
const unescapeQuotes = (value: string): string =>
  value.replaceAll(/%(?:22|0D|0A)/gi, (code) => decodeURIComponent(code));
