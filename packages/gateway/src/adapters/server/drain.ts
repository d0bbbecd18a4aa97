import { defaultGraceMs, type OpenSockets } from './openSockets.ts';
import type { CloseOptions } from './serveOptions.ts';

/** Open connections and calls of a server that is stopping. */
interface OpenWork {
  /** Returns the number of open connections, including WebSockets. */
  connections(): number;
  /** Returns the number of calls in flight plus open WebSockets. */
  calls(): number;
}

/** Waits for the connections and calls of a stopping server to end. */
export class Drain {
  #onChange: (() => void) | undefined;

  /** Call this whenever a connection or a call ends. */
  readonly recheck = (): void => this.#onChange?.();

  /**
   * Waits for idle keep-alive connections for `graceMs`, and for calls until the deadline. Before that, the server must
   * stop accepting connections and add `Connection: close` to responses.
   */
  async wait(work: OpenWork, { deadlineMs = 10_000, graceMs = defaultGraceMs }: CloseOptions): Promise<void> {
    const startedAt = performance.now();
    // On an idle connection, a request may be in transit. Its response has `Connection: close`.
    await this.#until(() => work.connections() === 0, Math.min(graceMs, deadlineMs));
    const remainingMs = () => Math.max(0, deadlineMs - (performance.now() - startedAt));
    const hasNoCalls = () => work.calls() === 0;
    do {
      await this.#until(hasNoCalls, remainingMs());
      // Continues right after the event loop has read from its sockets, so that requests that have arrived are served,
      // not reset.
      await new Promise(setImmediate);
    } while (!hasNoCalls() && remainingMs() > 0);
  }

  #until(check: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      // Not `unref`: nothing else may keep the process alive, and the caller has more to do after the stop.
      const timer = setTimeout(resolve, ms);
      this.#onChange = () => {
        if (!check()) return;
        clearTimeout(timer);
        resolve();
      };
      this.#onChange();
    });
  }
}

/** The parts of a server that stop. */
interface Stopping {
  readonly drain: Drain;
  readonly responder: { readonly inFlight: number; drain(): void };
  readonly sockets: OpenSockets;
  /** Returns the number of open connections, including WebSockets. */
  connections(): number;
  /** Stops accepting connections. */
  stopListening(): void;
  /** Ends the remaining connections. */
  end(): void;
}

/** Creates `close` of a server, which stops it once. */
export function closeOnce(server: Stopping): (options?: CloseOptions) => Promise<number> {
  const { drain, responder, sockets } = server;
  async function stop(options: CloseOptions): Promise<number> {
    server.stopListening();
    responder.drain();
    sockets.drain(options.graceMs);
    const work = {
      connections: () => server.connections(),
      calls: () => responder.inFlight + sockets.size,
    };
    await drain.wait(work, options);
    const cutOff = responder.inFlight + sockets.inFlight;
    sockets.closeAll();
    server.end();
    return cutOff;
  }
  let stopping: Promise<number> | undefined;
  return (options = {}) => (stopping ??= stop(options));
}
