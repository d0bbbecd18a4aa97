// Hot path: one object per request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { noBytes, type PushChunk } from '../server/bodyBuffer.ts';
import type { RequestLimits } from '../server/requestHead.ts';
import { LeanMessage } from './lean.ts';
import { NodeRequest } from './request.ts';

/**
 * Maximum number of pipelined requests per connection that wait for their responses. Node parses all requests of one
 * read, up to 64 KiB: without a limit, 2,000 responses would wait for a client that does not read.
 */
const maxPipelined = 100;

/** Requests that outlive their handlers, by connection. */
export type Connections = ReadonlyMap<Socket, { readonly requests: Set<ServedRequest> }>;

/** A request to the server of this adapter (`serve`). */
export class ServedRequest extends NodeRequest {
  readonly #connections: Connections;
  /** The message, if this version of Node supports `LeanMessage`. */
  readonly #lean: LeanMessage | undefined;
  #isPaused = false;
  /** The requests of the connection that outlive their handlers, including this one. */
  #pendingRequests: Set<ServedRequest> | undefined;

  constructor(
    message: IncomingMessage,
    res: ServerResponse,
    limits: RequestLimits,
    connections: Connections,
  ) {
    super(message, res, message.url ?? '', limits);
    this.#lean = message instanceof LeanMessage ? message : undefined;
    this.#connections = connections;
  }

  /** Whether the request has arrived completely. */
  get isReceived(): boolean {
    return this.message.complete;
  }

  override onResponseEnd(): void {
    super.onResponseEnd();
    this.#pendingRequests?.delete(this);
  }

  override controlBody(action: 'pause' | 'resume' | 'close'): void {
    if (!this.#lean) return super.controlBody(action);
    const { socket } = this.#lean;
    this.#isPaused = action === 'pause';
    // `pause` needs no call: the parser pauses the connection if its receiver returns false.
    if (action === 'resume') socket.resume();
    if (action !== 'close') return;
    this.#lean.receiver = undefined;
    socket.destroy();
  }

  protected watchConnection(): void {
    this.#pendingRequests = this.#connections.get(this.message.socket)?.requests;
    this.#pendingRequests?.add(this);
    if (this.#pendingRequests && this.#pendingRequests.size > maxPipelined) this.controlBody('close');
  }

  protected override receive(push: PushChunk): void {
    if (!this.#lean) return super.receive(push);
    this.#lean.receiver = (chunk) => {
      push(chunk ?? noBytes, chunk === null, true);
      return !this.#isPaused;
    };
  }
}
