import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyBuffer } from '../server/bodyBuffer.ts';
import type { RequestLimits } from '../server/request.ts';
import { BodyTooLargeError, type Bytes } from '../../http/request.ts';
import { NodeRequest } from './request.ts';

/** A request to the user's own server, in which the gateway is mounted. */
export class MountedRequest extends NodeRequest {
  /** The body, if a body parser of the server has read it. */
  #parsedBody: Bytes | undefined;

  constructor(message: IncomingMessage, res: ServerResponse, url: string, limits: RequestLimits) {
    super(message, res, url, limits);
    // The server has already sent `100 Continue`.
    this.awaitsContinue = false;
  }

  /**
   * Takes the body from a body parser of the server, if one has read it.
   * @throws {Error} if the parser left nothing from which the body can be restored. The message names the fix
   */
  takeParsedBody(): void {
    if (this.message.readableDidRead && this.bodyLength !== 0) this.#parsedBody = parsedBody(this.message);
  }

  override header(name: string): string | undefined {
    // The body parser of the server has decoded the body.
    return this.#parsedBody && name === 'content-encoding' ? undefined : super.header(name);
  }

  override async body(maxBytes: number): Promise<Bytes> {
    return this.#parsedBody ? requireSize(this.#parsedBody, maxBytes) : super.body(maxBytes);
  }

  override bodyNow(maxBytes: number): Bytes | undefined {
    if (!this.#parsedBody) return super.bodyNow(maxBytes);
    return this.#parsedBody.byteLength > maxBytes ? undefined : this.#parsedBody;
  }

  override bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    return this.#parsedBody ? oneChunk(this.#parsedBody, maxBytes) : super.bodyChunks(maxBytes);
  }

  override get hasSmallBody(): boolean {
    return this.#parsedBody === undefined && super.hasSmallBody;
  }

  override get exceedsDiscardLimit(): boolean {
    return this.#parsedBody === undefined && super.exceedsDiscardLimit;
  }

  protected watchConnection(): void {
    this.res.once('close', () => {
      if (!this.hasEnded) this.onDisconnect();
    });
  }

  protected override receive(body: BodyBuffer): void {
    if (!this.#parsedBody) super.receive(body);
  }
}

function requireSize(body: Bytes, maxBytes: number): Bytes {
  if (body.byteLength > maxBytes) throw new BodyTooLargeError(maxBytes);
  return body;
}

async function* oneChunk(body: Bytes, maxBytes: number): AsyncGenerator<Bytes, void> {
  yield requireSize(body, maxBytes);
}

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
function parsedBody(message: IncomingMessage): Bytes {
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
