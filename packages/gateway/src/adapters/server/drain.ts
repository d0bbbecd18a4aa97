import type { CloseOptions } from './serveOptions.ts';

/** What a server that stops still has to do. */
interface Remaining {
  /** How many connections are open, WebSockets among them. */
  connections(): number;
  /** How many calls are in flight, and how many WebSockets are open. */
  calls(): number;
}

/** Waits, while a server stops, for its connections and calls to end. */
export class Drain {
  #onChange = () => {};

  /** Call it whenever a connection or a call ends. */
  readonly changed = (): void => this.#onChange();

  /**
   * Waits for idle keep-alive connections until the grace is over, and for calls until the deadline. The server takes no
   * new connections any more, and asks clients to close theirs.
   */
  async wait(remaining: Remaining, { deadlineMs = 10_000, graceMs = 1000 }: CloseOptions): Promise<void> {
    const startedAt = performance.now();
    // An idle connection may have a request on its way: its response asks the client to close.
    await this.#until(() => remaining.connections() === 0, Math.min(graceMs, deadlineMs));
    const left = () => Math.max(0, deadlineMs - (performance.now() - startedAt));
    const isQuiet = () => remaining.calls() === 0;
    do {
      await this.#until(isQuiet, left());
      // Right behind the turn in which the event loop reads: what came in before it closes is served, not reset.
      await new Promise(setImmediate);
    } while (!isQuiet() && left() > 0);
  }

  #until(check: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      // Not `unref`: it may be all that keeps the process, and the caller has more to do after the stop.
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
