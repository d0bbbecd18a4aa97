import { unref, type Timer } from '../http/eventLoop.ts';
import { performance } from '../http/performance.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { CallScope } from './callScope.ts';

/** Something that waits, and gives up at the deadline of its scope. */
export abstract class Waiting {
  readonly scope: CallScope;
  /** Its neighbours in the list of all that wait; `undefined` while it does not wait. */
  previous: Waiting | undefined = undefined;
  next: Waiting | undefined = undefined;

  constructor(scope: CallScope) {
    this.scope = scope;
  }

  /** Called at the deadline, once; it is not waiting any more by then. */
  abstract expire(error: LimitError): void;
}

/**
 * Ends what waits longer than `callTimeoutMs`, or than its scope says, by one timer: nearly every call ends long before its deadline.
 *
 * What waits is a linked list. A `Set` made every call that waits live until a full collection, which doubled the time
 * of a query with an async resolver: V8 lets each table that a set outgrew point to the next one, so a dead table in the
 * old generation keeps all those after it, and what was in them (nepotism; `npm run bench`, case query).
 */
export class Deadlines {
  readonly #timeoutMs: number;
  /** The oldest and the newest. */
  #first: Waiting | undefined = undefined;
  #last: Waiting | undefined = undefined;
  #size = 0;
  #timer: Timer | undefined;
  /** When the timer fires, by `performance.now()`. */
  #sweepsAt = Infinity;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Waits from now on. The scope has its deadline from the first on that waits in it. */
  add(waiting: Waiting): void {
    waiting.scope.follow();
    const { scope } = waiting;
    scope.begin(this.#timeoutMs);
    waiting.previous = this.#last;
    if (this.#last) this.#last.next = waiting;
    else this.#first = waiting;
    this.#last = waiting;
    this.#size += 1;
    const { deadline = Infinity } = scope;
    if (deadline < this.#sweepsAt) this.#sweepIn(deadline);
  }

  /** @returns whether it still waited */
  delete(waiting: Waiting): boolean {
    const { previous, next } = waiting;
    if (previous === undefined && this.#first !== waiting) return false;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    // A dead one in the old generation would keep its neighbours, and they theirs.
    waiting.previous = undefined;
    waiting.next = undefined;
    this.#size -= 1;
    return true;
  }

  #sweepIn(deadline: number): void {
    // One that is for later, or that a listener of an abort has set meanwhile.
    clearTimeout(this.#timer);
    this.#sweepsAt = deadline;
    const ms = Math.min(deadline - performance.now(), longestTimer);
    this.#timer = unref(setTimeout(() => this.#sweep(), ms));
  }

  #sweep(): void {
    this.#timer = undefined;
    this.#sweepsAt = Infinity;
    // A timer may fire a little early.
    const now = performance.now() + 1;
    let next = Infinity;
    const expired: Waiting[] = [];
    for (let waiting = this.#first; waiting; waiting = waiting.next) {
      const { deadline = Infinity } = waiting.scope;
      if (deadline <= now) expired.push(waiting);
      else next = Math.min(next, deadline);
    }
    for (const waiting of expired) {
      // Another's expiry may have ended it.
      if (!this.delete(waiting)) continue;
      const { scope } = waiting;
      const error = timedOut(scope, this.#timeoutMs);
      waiting.expire(error);
      scope.abort(error);
    }
    if (next < this.#sweepsAt) this.#sweepIn(next);
  }
}

/** A longer timer would fire at once. */
const longestTimer = 2 ** 31 - 1;

function timedOut({ clientTimeout, deadline, timeoutMs }: CallScope, defaultTimeoutMs: number): LimitError {
  const limit =
    clientTimeout !== undefined && clientTimeout.endsAt === deadline
      ? `${clientTimeout.ms} ms, the client’s timeout`
      : `${timeoutMs ?? defaultTimeoutMs} ms`;
  return new LimitError('call-timeout', {
    code: 'GATEWAY_TIMEOUT',
    message: `The call took longer than ${limit}; whether it had an effect is unknown.`,
  });
}
