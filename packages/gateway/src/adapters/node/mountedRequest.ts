import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Bytes, PushChunk } from '../server/bodyBuffer.ts';
import type { RequestLimits } from '../server/requestHead.ts';
import { BodyTooLargeError } from '../../http/request.ts';
import { parsedBody } from './parsedBody.ts';
import { NodeRequest } from './request.ts';

/** A request to a server of the user's own. */
export class MountedRequest extends NodeRequest {
  /** The body, where a parser of the host has read it. */
  #parsed: Bytes | undefined;

  constructor(message: IncomingMessage, res: ServerResponse, url: string, limits: RequestLimits) {
    super(message, res, url, limits);
    // The host has continued it by itself.
    this.isWaiting = false;
  }

  /**
   * Takes the body from a parser of the host that has read it.
   * @throws where the parser left nothing that can be a body again. The message names the fix
   */
  takeParsedBody(): void {
    if (this.message.readableDidRead && this.hasBody) this.#parsed = parsedBody(this.message);
  }

  override header(name: string): string | undefined {
    // The parser of the host has decoded the body.
    return this.#parsed && name === 'content-encoding' ? undefined : super.header(name);
  }

  override async body(maxBytes: number): Promise<Bytes> {
    return this.#parsed ? within(this.#parsed, maxBytes) : super.body(maxBytes);
  }

  override bodyNow(maxBytes: number): Bytes | undefined {
    if (!this.#parsed) return super.bodyNow(maxBytes);
    return this.#parsed.byteLength > maxBytes ? undefined : this.#parsed;
  }

  override bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    return this.#parsed ? oneChunk(this.#parsed, maxBytes) : super.bodyChunks(maxBytes);
  }

  override get hasSmallBody(): boolean {
    return this.#parsed === undefined && super.hasSmallBody;
  }

  override get isEndless(): boolean {
    return this.#parsed === undefined && super.isEndless;
  }

  protected watchConnection(): void {
    this.res.once('close', () => {
      if (!this.hasEnded) this.aborted();
    });
  }

  protected override receive(push: PushChunk): void {
    if (!this.#parsed) super.receive(push);
  }
}

function within(body: Bytes, maxBytes: number): Bytes {
  if (body.byteLength > maxBytes) throw new BodyTooLargeError(maxBytes);
  return body;
}

async function* oneChunk(body: Bytes, maxBytes: number): AsyncGenerator<Bytes, void> {
  yield within(body, maxBytes);
}
