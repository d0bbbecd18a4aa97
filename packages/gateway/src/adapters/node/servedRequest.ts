// Hot path: one object per request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestLimits } from '../server/requestHead.ts';
import { NodeRequest } from './request.ts';

/**
 * Maximum number of pipelined requests per connection that have no response yet. Node parses all requests of one read, up
 * to 64 KiB: without a limit, 2,000 calls of one client would run at once.
 */
const maxPipelined = 100;

/** Requests that outlive their handlers, by connection. */
export type Connections = ReadonlyMap<Socket, { readonly requests: Set<ServedRequest> }>;

/** A request to the server of this adapter (`serve`). */
export class ServedRequest extends NodeRequest {
  readonly #connections: Connections;
  /** The requests of the connection that outlive their handlers, including this one. */
  #pendingRequests: Set<ServedRequest> | undefined;

  constructor(
    message: IncomingMessage,
    res: ServerResponse,
    limits: RequestLimits,
    connections: Connections,
  ) {
    super(message, res, message.url ?? '', limits);
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

  /** Responses that are ready wait for those before them, within the bound of `maxUnsentBytes`. */
  #limitPipelined(requests: Iterable<ServedRequest>): void {
    let unanswered = 0;
    for (const { res } of requests) unanswered += res.writableEnded ? 0 : 1;
    if (unanswered > maxPipelined) this.controlBody('close');
  }

  protected watchConnection(): void {
    this.#pendingRequests = this.#connections.get(this.message.socket)?.requests;
    this.#pendingRequests?.add(this);
    if (this.#pendingRequests && this.#pendingRequests.size > maxPipelined)
      this.#limitPipelined(this.#pendingRequests);
  }
}
