/** Counts running and aborted calls, so that a test can observe aborts. Stores counts only, as soaks run for long. */
export class LiveCalls {
  /** Number of running calls. */
  count = 0;
  total = 0;
  readonly #started = new Map<string, number>();
  readonly #aborted = new Map<string, number>();

  /** Counts a call until its promise settles. */
  run<Result>(name: string, signal: AbortSignal | undefined, call: () => Promise<Result>): Promise<Result> {
    return call().finally(this.begin(name, signal));
  }

  /** Counts a call until its values have ended. */
  async *stream<Value>(name: string, signal: AbortSignal | undefined, values: AsyncIterable<Value>) {
    const end = this.begin(name, signal);
    try {
      yield* values;
    } finally {
      end();
    }
  }

  /** Counts a started call. Returns a function that counts its end. */
  begin(name: string, signal: AbortSignal | undefined): () => void {
    this.count += 1;
    this.total += 1;
    increment(this.#started, name);
    signal?.addEventListener('abort', () => increment(this.#aborted, name), { once: true });
    return () => {
      this.count -= 1;
    };
  }

  started(name: string): number {
    return this.#started.get(name) ?? 0;
  }

  aborted(name: string): number {
    return this.#aborted.get(name) ?? 0;
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
