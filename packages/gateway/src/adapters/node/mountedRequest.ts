import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Bytes } from '../../http/bytes.ts';
import type { PushChunk } from '../server/bodyBuffer.ts';
import type { RequestLimits } from '../server/requestHead.ts';
import { BodyTooLargeError } from '../../http/request.ts';
import { parsedBody } from './parsedBody.ts';
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
    if (this.message.readableDidRead && this.hasBody) this.#parsedBody = parsedBody(this.message);
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

  protected override receive(push: PushChunk): void {
    if (!this.#parsedBody) super.receive(push);
  }
}

function requireSize(body: Bytes, maxBytes: number): Bytes {
  if (body.byteLength > maxBytes) throw new BodyTooLargeError(maxBytes);
  return body;
}

async function* oneChunk(body: Bytes, maxBytes: number): AsyncGenerator<Bytes, void> {
  yield requireSize(body, maxBytes);
}
