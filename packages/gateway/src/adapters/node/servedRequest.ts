// Hot path: every request is one of these.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { PushChunk } from '../server/bodyBuffer.ts';
import type { RequestLimits } from '../server/requestHead.ts';
import { LeanMessage } from './lean.ts';
import { NodeRequest } from './request.ts';

const empty = new Uint8Array(0);

/**
 * How many requests of a connection may wait for their responses. Node parses all that arrives together, up to 64 KiB:
 * 2,000 requests, whose responses would wait for a client that does not read.
 */
const maxPipelined = 100;

/** The requests of each connection that outlive their handlers. */
export type Connections = ReadonlyMap<Socket, { readonly requests: Set<ServedRequest> }>;

/** A request to a server of this adapter. */
export class ServedRequest extends NodeRequest {
  readonly #connections: Connections;
  /** The message, unless this Node does not support lean ones. */
  readonly #lean: LeanMessage | undefined;
  #isPaused = false;
  /** Those of its connection that outlive their handlers, this one among them. */
  #waiting: Set<ServedRequest> | undefined;

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

  /** Whether all of it has arrived. */
  get isReceived(): boolean {
    return this.message.complete;
  }

  override ended(): void {
    super.ended();
    this.#waiting?.delete(this);
  }

  override controlBody(action: 'pause' | 'resume' | 'close'): void {
    if (!this.#lean) return super.controlBody(action);
    const { socket } = this.#lean;
    this.#isPaused = action === 'pause';
    // The parser pauses the connection where its receiver says so.
    if (action === 'resume') socket.resume();
    if (action !== 'close') return;
    this.#lean.receiver = undefined;
    socket.destroy();
  }

  protected watchConnection(): void {
    this.#waiting = this.#connections.get(this.message.socket)?.requests;
    this.#waiting?.add(this);
    if (this.#waiting && this.#waiting.size > maxPipelined) this.controlBody('close');
  }

  protected override receive(push: PushChunk): void {
    if (!this.#lean) return super.receive(push);
    this.#lean.receiver = (chunk) => {
      push(chunk ?? empty, chunk === null, true);
      return !this.#isPaused;
    };
  }
}
