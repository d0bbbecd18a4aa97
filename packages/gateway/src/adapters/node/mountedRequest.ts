import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyBuffer } from '../serve/bodyBuffer.ts';
import type { RequestLimits } from '../serve/requestHead.ts';
import { NodeRequest } from './request.ts';

/** A request to the user's own server, in which the gateway is mounted. */
export class MountedRequest extends NodeRequest {
  /** The body, if a body parser of the server has read it. */
  #parsedBody: Uint8Array | undefined;

  constructor(message: IncomingMessage, res: ServerResponse, limits: RequestLimits) {
    super(message, res, limits);
    // The server has already sent `100 Continue`.
    this.awaitsContinue = false;
  }

  /** Takes the body from a body parser of the server, if one has read it. @throws {Error} as `parsedBody` */
  takeParsedBody(): void {
    if (this.message.readableDidRead && this.bodyLength !== 0) this.#parsedBody = parsedBody(this.message);
  }

  override header(name: string): string | undefined {
    // The body parser of the server has decoded the body.
    return this.#parsedBody && name === 'content-encoding' ? undefined : super.header(name);
  }

  protected watchConnection(): void {
    this.res.once('close', () => {
      if (!this.hasEnded) this.onDisconnect();
    });
  }

  protected override receive(body: BodyBuffer): void {
    if (this.#parsedBody) body.push(this.#parsedBody, true);
    else super.receive(body);
  }
}

/** Properties that body parsers set on a request; Google Cloud Functions and Firebase set `rawBody`, the raw bytes. */
type ParserResult = Partial<Record<'body' | 'rawBody', unknown>>;

/**
 * Restores the body of a request that a body parser has read: bytes and text as they are, JSON values serialized again.
 * @throws {Error} if the parser left nothing from which the body can be restored
 */
function parsedBody(message: IncomingMessage): Uint8Array {
  const { body, rawBody = body } = message as IncomingMessage & ParserResult;
  if (rawBody instanceof Uint8Array) return rawBody;
  const type = (message.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isJson = type === 'application/json' || type.endsWith('+json');
  if (typeof rawBody === 'string' && (!isJson || isAsReceived(rawBody, message))) return Buffer.from(rawBody);
  if (isJson && body !== undefined) return Buffer.from(JSON.stringify(body));
  throw new Error(
    `A body parser already read the body of ${message.method} ${message.url} (${type || 'no Content-Type'}) and left no req.body that the gateway can use. Mount the gateway before the parser, or exclude the gateway's paths from the parser.`,
  );
}

/** Whether a string is the raw text of the body, rather than the value of a parsed JSON string. */
function isAsReceived(text: string, { headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  return length === undefined || encoding !== undefined || Number(length) === Buffer.byteLength(text);
}
