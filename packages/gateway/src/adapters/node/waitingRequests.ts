import type { Socket } from 'node:net';
import type { NodeRequest } from './request.ts';

/** Requests that wait: for the response before them, or for a later turn of the event loop that has time for them. */
export class WaitingRequests {
  /** Number of requests that wait for the response before them. */
  behind = 0;
  /** Number of other requests. */
  late = 0;
  /** Number of connections that have requests of either kind. */
  connections = 0;
  readonly #byConnection = new Map<Socket, Set<() => void>>();

  of(connection: Socket): number {
    return this.#byConnection.get(connection)?.size ?? 0;
  }

  /** Adds a request. The returned function, also called at a close, removes the request and handles it. */
  add(request: NodeRequest, handle: () => void): () => void {
    const { connection } = request;
    const kind = request.isBehind ? 'behind' : 'late';
    const requests = this.#byConnection.get(connection) ?? this.#watch(connection);
    const run = () => {
      if (!requests.delete(run)) return;
      this[kind] -= 1;
      if (requests.size === 0) this.connections -= 1;
      // Node does not report the end of the connection to a response that waits for another one.
      if (connection.destroyed && !request.isAborted) request.onDisconnect();
      handle();
    };
    if (requests.size === 0) this.connections += 1;
    requests.add(run);
    this[kind] += 1;
    return run;
  }

  #watch(connection: Socket): Set<() => void> {
    const requests = new Set<() => void>();
    this.#byConnection.set(connection, requests);
    connection.once('close', () => {
      this.#byConnection.delete(connection);
      for (const run of requests) run();
    });
    return requests;
  }
}
