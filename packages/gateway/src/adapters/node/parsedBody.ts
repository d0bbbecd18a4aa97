import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Bytes } from '../server/bodyBuffer.ts';

/** What body parsers leave behind on a request. */
interface Parsed {
  readonly body?: unknown;
  /** The bytes, as Google's and Firebase's functions keep them. */
  readonly rawBody?: unknown;
}

/**
 * The body of a request that a body parser has read, as the client may have sent it.
 * @throws where the parser left nothing of it, or something that cannot be made a body again
 */
export function parsedBody(message: IncomingMessage): Bytes {
  const { body, rawBody } = message as IncomingMessage & Parsed;
  if (rawBody instanceof Uint8Array || typeof rawBody === 'string') return bytesOf(rawBody);
  const type = (message.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isJson = type === 'application/json' || type.endsWith('+json');
  if (body instanceof Uint8Array) return bytesOf(body);
  if (typeof body === 'string')
    return bytesOf(isJson && !isAsReceived(body, message) ? JSON.stringify(body) : body);
  if (isJson && body !== undefined) return bytesOf(JSON.stringify(body));
  if (type === 'application/x-www-form-urlencoded' && typeof body === 'object' && body !== null) {
    return bytesOf(formOf(body));
  }
  throw new Error(
    `A body parser has read the body of ${message.method} ${message.url} (${type || 'no Content-Type'}) and left no ` +
      'req.body that can be read again. Mount the gateway before the parser, or keep the parser from its paths.',
  );
}

/** Whether a string is the text of the body, not the value of a JSON string. */
function isAsReceived(text: string, { headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  return length === undefined || encoding !== undefined || Number(length) === Buffer.byteLength(text);
}

/** Fields of a form, arrays as a field of each item. */
function formOf(fields: object): string {
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

/** Of its own: a reader may pass it on. */
const bytesOf = (body: string | Uint8Array): Bytes => Uint8Array.from(Buffer.from(body));
