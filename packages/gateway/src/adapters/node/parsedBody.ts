import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Bytes } from '../../http/bytes.ts';

/** Properties that body parsers set on a request. */
interface ParserResult {
  readonly body?: unknown;
  /** Raw bytes, set by Google Cloud Functions and Firebase. */
  readonly rawBody?: unknown;
}

/**
 * Restores the body of a request that a body parser has read. The bytes are equivalent to what the client sent, not
 * always identical.
 * @throws {Error} if the parser left nothing from which the body can be restored
 */
export function parsedBody(message: IncomingMessage): Bytes {
  const { body, rawBody } = message as IncomingMessage & ParserResult;
  if (rawBody instanceof Uint8Array || typeof rawBody === 'string') return toOwnBytes(rawBody);
  const type = (message.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isJson = type === 'application/json' || type.endsWith('+json');
  if (body instanceof Uint8Array) return toOwnBytes(body);
  if (typeof body === 'string')
    return toOwnBytes(isJson && !isAsReceived(body, message) ? JSON.stringify(body) : body);
  if (isJson && body !== undefined) return toOwnBytes(JSON.stringify(body));
  if (type === 'application/x-www-form-urlencoded' && typeof body === 'object' && body !== null) {
    return toOwnBytes(toFormBody(body));
  }
  throw new Error(
    `A body parser already read the body of ${message.method} ${message.url} (${type || 'no Content-Type'}) and left no req.body that the gateway can use. Mount the gateway before the parser, or exclude the gateway's paths from the parser.`,
  );
}

/** Whether a string is the raw text of the body, rather than the value of a parsed JSON string. */
function isAsReceived(text: string, { headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  return length === undefined || encoding !== undefined || Number(length) === Buffer.byteLength(text);
}

/** Encodes fields as a form: an array as one field per item. */
function toFormBody(fields: object): string {
  const form = new URLSearchParams();
  const append = (name: string, value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) append(name, item);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) append(`${name}[${key}]`, member);
    } else form.append(name, String(value));
  };
  for (const [name, value] of Object.entries(fields)) append(name, value);
  return form.toString();
}

/** Copies bytes into a buffer that contains nothing else, so that the reader may transfer it. */
const toOwnBytes = (body: string | Uint8Array): Bytes => Uint8Array.from(Buffer.from(body));
