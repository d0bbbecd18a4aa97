/** A subscription that waits to start. */
export interface WaitingSubscription {
  startNow(): void;
}

/**
 * Starts the subscriptions of all sockets, so many at once that half of `maxInFlight` is left for other calls; further ones
 * wait in order. After a restart, each client sends all its subscriptions at once, and @trpc/client 11.25 gives up one that
 * is answered with 503.
 */
export class SubscriptionStarts {
  readonly #maxStarting: number;
  #starting = 0;
  /** A set, since a socket that closes removes its subscriptions. */
  readonly #waiting = new Set<WaitingSubscription>();
  #isStartingNext = false;

  constructor(maxInFlight: number) {
    this.#maxStarting = Math.max(1, Math.floor(maxInFlight / 2));
  }

  /**
   * Starts a subscription, now or later. It must call `ended` once: when its events begin, or when it has failed.
   */
  add(subscription: WaitingSubscription): void {
    if (this.#starting < this.#maxStarting && this.#waiting.size === 0) {
      this.#starting += 1;
      subscription.startNow();
    } else {
      this.#waiting.add(subscription);
    }
  }

  /** Removes a subscription that waits. */
  delete(subscription: WaitingSubscription): void {
    this.#waiting.delete(subscription);
  }

  /** Called when a subscription no longer starts. */
  ended(): void {
    this.#starting -= 1;
    // One that starts synchronously calls this again: without the check, thousands would overflow the stack.
    if (this.#isStartingNext) return;
    this.#isStartingNext = true;
    for (const next of this.#waiting) {
      if (this.#starting >= this.#maxStarting) break;
      this.#waiting.delete(next);
      this.#starting += 1;
      next.startNow();
    }
    this.#isStartingNext = false;
  }
}
