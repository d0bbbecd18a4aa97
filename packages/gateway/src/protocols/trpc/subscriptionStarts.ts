import type { Limits } from '../../calls/limits.ts';
import { longestTimer, performance, unref, type Timer } from '../../http/eventLoop.ts';
import { turn } from '../../http/turn.ts';
import { LimitError } from '../../procedures/limitError.ts';

export interface WaitingSubscription {
  /** When it arrived, by `performance.now()`. */
  readonly startedAt: number;
  /** Starts it. It calls `ended` once: when its events begin, when it has failed, or when its client disconnects. */
  startNow(): void;
  reject(error: LimitError): void;
}

/**
 * Starts the subscriptions of all sockets, so many at once that half of `maxInFlight` is left for other calls. Further ones
 * wait: the sockets have turns, so that one client does not keep all others waiting. After a restart, each client sends
 * all its subscriptions at once, and @trpc/client 11.25 gives up one that is answered with 503.
 */
export class SubscriptionStarts {
  readonly #maxStarting: number;
  readonly #timeoutMs: number;
  readonly #timedOut: LimitError;
  #starting = 0;
  /** The subscriptions that wait, by socket; the socket whose turn is next is the first. */
  readonly #waiting = new Map<object, WaitingSubscription[]>();
  /** Whether `#startNext` runs or is scheduled. */
  #isStartingNext = false;
  #timer: Timer | undefined;

  constructor({ callTimeoutMs, maxInFlight }: Pick<Limits, 'callTimeoutMs' | 'maxInFlight'>) {
    this.#maxStarting = Math.max(1, Math.floor(maxInFlight / 2));
    this.#timeoutMs = callTimeoutMs;
    this.#timedOut = timedOut(callTimeoutMs);
  }

  /** Starts a subscription of a socket, now or later. */
  add(subscription: WaitingSubscription, socket: object): void {
    if (this.#starting < this.#maxStarting && this.#waiting.size === 0) return this.#start(subscription);
    const calls = this.#waiting.get(socket);
    if (calls) calls.push(subscription);
    else this.#waiting.set(socket, [subscription]);
    if (this.#timer === undefined) this.#expireIn(this.#timeoutMs);
  }

  /** Removes the subscriptions of a socket that wait. */
  delete(socket: object): void {
    // Emptied too, since they may be expiring.
    this.#waiting.get(socket)?.splice(0);
    this.#waiting.delete(socket);
  }

  /** Called when a subscription no longer starts. */
  ended(): void {
    this.#starting -= 1;
    // A subscription that starts synchronously calls this again: without the check, thousands would overflow the stack.
    if (!this.#isStartingNext) this.#startNext();
  }

  readonly #startNext = (): void => {
    this.#isStartingNext = true;
    let isSpent = false;
    try {
      // The map continues with sockets that are added again.
      for (const [socket, calls] of this.#waiting) {
        if (this.#starting >= this.#maxStarting) break;
        isSpent = turn.spend();
        if (isSpent) break;
        const next = calls.shift();
        this.#waiting.delete(socket);
        if (calls.length > 0) this.#waiting.set(socket, calls);
        if (next) this.#start(next);
      }
    } finally {
      this.#isStartingNext = isSpent;
    }
    if (isSpent) turn.later(this.#startNext);
  };

  #start(subscription: WaitingSubscription): void {
    this.#starting += 1;
    subscription.startNow();
  }

  #expireIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = unref(setTimeout(this.#expire, Math.min(ms, longestTimer)));
  }

  /** Rejects the subscriptions that have waited for too long. */
  readonly #expire = (): void => {
    // A timer may fire slightly early.
    const expired = performance.now() - this.#timeoutMs + 1;
    let oldest = Infinity;
    for (const [socket, calls] of this.#waiting) {
      for (let first = calls[0]; first && first.startedAt <= expired; first = calls[0]) {
        if (turn.spend()) return turn.later(this.#expire);
        calls.shift();
        first.reject(this.#timedOut);
      }
      if (calls[0]) oldest = Math.min(oldest, calls[0].startedAt);
      else this.#waiting.delete(socket);
    }
    this.#timer = undefined;
    if (oldest < Infinity) this.#expireIn(oldest - expired + 1);
  };
}

const timedOut = (timeoutMs: number) =>
  new LimitError('queue-time', {
    code: 'SERVICE_UNAVAILABLE',
    message: `The subscription did not start within ${timeoutMs} ms (callTimeoutMs), since too many others are starting. Subscribe again.`,
    retryAfterSeconds: 1,
  });
