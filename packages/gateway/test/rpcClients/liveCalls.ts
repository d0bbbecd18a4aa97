/** Which calls run now, and which were told to stop: how a test sees that an abort arrived. Counts only: it may run long. */
export class LiveCalls {
  /** How many calls have begun and not ended. */
  count = 0;
  /** How many calls have begun so far. */
  total = 0;
  /** How many values the endless producers were asked for. */
  pulled = 0;
  readonly #begun = new Map<string, number>();
  readonly #aborted = new Map<string, number>();

  /** Counts a call in; the function it gives counts it out. */
  begin(name: string, signal: AbortSignal | undefined): () => void {
    this.count += 1;
    this.total += 1;
    increment(this.#begun, name);
    // `once`: a signal is asked for as often as it has listeners.
    signal?.addEventListener('abort', () => increment(this.#aborted, name), { once: true });
    return () => {
      this.count -= 1;
    };
  }

  /** How many calls of this procedure have begun so far. */
  begun(name: string): number {
    return this.#begun.get(name) ?? 0;
  }

  /** How many calls of this procedure had their signal aborted so far. */
  aborted(name: string): number {
    return this.#aborted.get(name) ?? 0;
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
