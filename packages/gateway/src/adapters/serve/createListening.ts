import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenSockets } from './openSockets.ts';
import type { CloseOptions, Listening } from './serveOptions.ts';

interface Server {
  readonly responder: { readonly inFlight: number; drain(): void; expire(): boolean };
  readonly sockets: OpenSockets;
  /** Returns the number of open HTTP connections, without WebSockets. */
  connections(): number;
  /** Whether `stopListening` closes idle connections, too. It is then called after the time for requests in transit. */
  readonly stopClosesIdle?: boolean;
  stopListening(): void;
  end(): void;
}

/** Interval at which a stopping server checks whether its connections and calls have ended. */
const checkMs = 5;

/**
 * Number of turns of the event loop after which each connection has been accepted that waited in the kernel's queue, and its request
 * read: node:http accepts one per turn, and the queue has at most 512 on all adapters.
 */
const queueTurns = 513;

/**
 * Number of checks within which the last events of streams that end at the deadline are sent: 250 ms. Not a time, which a
 * process that waits for a core would use up without a turn of the event loop.
 */
const lastEventsChecks = 50;

/** Creates what the servers of all adapters return. `close` stops a server once. */
export function createListening(server: Server): Pick<Listening, 'inFlight' | 'connections' | 'close'> {
  const { responder, sockets } = server;
  const inFlight = () => responder.inFlight + sockets.inFlight;
  const hasNoCalls = () => responder.inFlight + sockets.size === 0;

  async function stop({ timeoutMs = 10_000, graceMs = 1000 }: CloseOptions): Promise<number> {
    const startedAt = performance.now();
    const isWithin = (ms: number) => performance.now() - startedAt < ms;
    const waitUntil = async (isDone: () => boolean, ms: number) => {
      // Not `unref`: nothing else may keep the process alive, and the caller has more to do after the stop.
      while (!isDone() && isWithin(ms)) await sleep(checkMs);
    };
    const idleMs = Math.min(graceMs, timeoutMs);
    responder.drain();
    sockets.drain(graceMs);
    if (server.stopClosesIdle) await waitUntil(() => false, idleMs);
    // The kernel resets connections that have not been accepted when the port closes. Half of the time is for calls in flight.
    for (let turns = 0; turns < queueTurns && isWithin(timeoutMs / 2); turns += 1)
      await new Promise(setImmediate);
    server.stopListening();
    // On an idle connection, a request may be in transit. Its response has `Connection: close`.
    await waitUntil(() => server.connections() + sockets.size === 0, idleMs);
    do {
      await waitUntil(hasNoCalls, timeoutMs);
      // Right after the event loop has read from its sockets: requests that have arrived are served, not reset.
      await new Promise(setImmediate);
    } while (!hasNoCalls() && isWithin(timeoutMs));
    const cutOff = inFlight();
    if (responder.expire()) {
      for (let check = 0; check < lastEventsChecks && responder.inFlight > 0; check += 1) {
        await sleep(checkMs);
      }
    }
    sockets.closeAll();
    server.end();
    return cutOff;
  }

  let stopping: Promise<number> | undefined;
  return {
    inFlight,
    connections: () => ({ http: server.connections(), webSockets: sockets.size }),
    close: (options = {}) => (stopping ??= stop(options)),
  };
}
