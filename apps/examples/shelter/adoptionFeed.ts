import { EventEmitter, on } from 'node:events';

/** Stores the adoptions of this process one after another, and wakes its subscriptions. */
export class AdoptionFeed {
  readonly #adoptions = new EventEmitter().setMaxListeners(0);
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Runs `adopt` after the adoptions before it. So no id becomes readable after a greater one: a subscription continues after
   * the greatest id that it has seen.
   */
  add<T>(adopt: () => Promise<T>): Promise<T> {
    const added = this.#last.then(adopt);
    this.#last = added.then(
      () => this.#adoptions.emit('added'),
      () => {},
    );
    return added;
  }

  /** Yields at once and after each adoption, until `signal` aborts. */
  async *changes(signal: AbortSignal): AsyncGenerator<void> {
    const added = on(this.#adoptions, 'added', { signal });
    yield;
    try {
      for await (const _ of added) yield;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
