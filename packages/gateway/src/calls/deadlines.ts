import { longestTimer, performance, unref, type Timer } from '../http/eventLoop.ts';
import { Failure } from '../procedures/execute.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { CallContext } from './requestContext.ts';

/** Receives the outcomes of calls: outputs or `Failure`s. `settle` may run synchronously inside `start`. */
export interface OutcomeReceiver {
  settle(index: number, outcome: unknown): void;
  /** Whether it reads the async iterables of outputs. Otherwise, they are ended after `settle`. */
  readonly readsIterables?: boolean;
  /** Receives the outcome of a call that ended after its deadline. Streams are discarded instead. */
  settleLate?(index: number, outcome: unknown): void;
}

/** A pending call, or something that calls wait for. */
export class PendingCall {
  readonly context: CallContext;
  readonly receiver: OutcomeReceiver;
  readonly index: number;
  /** The neighbours in the linked list of `Deadlines`; `undefined` while this call is not in the list. */
  previous: PendingCall | undefined = undefined;
  next: PendingCall | undefined = undefined;

  constructor(context: CallContext, receiver: OutcomeReceiver, index: number) {
    this.context = context;
    this.receiver = receiver;
    this.index = index;
  }
}

/**
 * Expires pending calls after `callTimeoutMs`, or their context's timeout. All share one timer, as nearly every call
 * ends long before. They form a linked list: a `Set` kept every call until a full garbage collection and doubled the
 * time of a query with an async resolver. V8 links the table of a grown set to the new one, so a dead table in the old
 * generation keeps all later ones alive (nepotism; `npm run bench`, case query).
 */
export class Deadlines {
  readonly #timeoutMs: number;
  /** The oldest and the newest. */
  #first: PendingCall | undefined = undefined;
  #last: PendingCall | undefined = undefined;
  size = 0;
  #timer: Timer | undefined;
  /** When the timer fires (`performance.now()`). */
  #sweepsAt = Infinity;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Adds a pending call. The first one in a context sets the context's deadline. */
  add(waiting: PendingCall): void {
    waiting.context.follow();
    const { context } = waiting;
    context.begin(this.#timeoutMs);
    waiting.previous = this.#last;
    if (this.#last) this.#last.next = waiting;
    else this.#first = waiting;
    this.#last = waiting;
    this.size += 1;
    const { deadline = Infinity } = context;
    if (deadline < this.#sweepsAt) this.#sweepIn(deadline);
  }

  /** Removes a pending call. @returns whether it was still pending */
  delete(waiting: PendingCall): boolean {
    const { previous, next } = waiting;
    if (previous === undefined && this.#first !== waiting) return false;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    // A dead node in the old generation would keep its neighbours alive, and they theirs.
    waiting.previous = undefined;
    waiting.next = undefined;
    this.size -= 1;
    return true;
  }

  #sweepIn(deadline: number): void {
    // Replaces a later timer, or one that an abort listener has set meanwhile.
    clearTimeout(this.#timer);
    this.#sweepsAt = deadline;
    const ms = Math.min(deadline - performance.now(), longestTimer);
    this.#timer = unref(setTimeout(() => this.#sweep(), ms));
  }

  #sweep(): void {
    this.#timer = undefined;
    this.#sweepsAt = Infinity;
    // A timer may fire slightly early.
    const now = performance.now() + 1;
    let next = Infinity;
    const expired: PendingCall[] = [];
    for (let waiting = this.#first; waiting; waiting = waiting.next) {
      const { deadline = Infinity } = waiting.context;
      if (deadline <= now) expired.push(waiting);
      else next = Math.min(next, deadline);
    }
    for (const waiting of expired) {
      // The expiry of another call may have ended it.
      if (!this.delete(waiting)) continue;
      const { index, receiver, context } = waiting;
      const error = timedOut(context, this.#timeoutMs);
      receiver.settle(index, new Failure(error));
      context.abort(error);
    }
    if (next < this.#sweepsAt) this.#sweepIn(next);
  }
}

function timedOut({ clientTimeout, deadline, timeoutMs }: CallContext, defaultTimeoutMs: number): LimitError {
  const limit =
    clientTimeout !== undefined && clientTimeout.endsAt === deadline
      ? `${clientTimeout.ms} ms (the client’s timeout)`
      : `${timeoutMs ?? defaultTimeoutMs} ms`;
  return new LimitError('call-timeout', {
    code: 'GATEWAY_TIMEOUT',
    message: `The call timed out after ${limit}. Whether it had an effect is unknown.`,
  });
}
