import { performance } from 'node:perf_hooks';
import { LimitError } from '../procedures/limitError.ts';
import type { CallScope } from './callScope.ts';

/** Something that waits, and gives up at the deadline of its scope. */
export interface Waiting {
  readonly scope: CallScope;
  /** Called at the deadline, once; it is not waiting any more by then. */
  expire(error: LimitError): void;
}

/** Ends what waits longer than `callTimeoutMs`, by one timer: nearly every call ends long before its deadline. */
export class Deadlines {
  readonly #timeoutMs: number;
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Waits from now on. The scope has its deadline from the first on that waits in it. */
  add(waiting: Waiting): void {
    waiting.scope.follow();
    waiting.scope.deadline ??= performance.now() + this.#timeoutMs;
    this.#waiting.add(waiting);
    if (this.#timer === undefined && this.#timeoutMs !== Infinity) this.#sweepIn(this.#timeoutMs);
  }

  /** @returns whether it still waited */
  delete(waiting: Waiting): boolean {
    return this.#waiting.delete(waiting);
  }

  #sweepIn(ms: number): void {
    // A listener of an abort may have set the timer meanwhile.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#sweep(), Math.min(ms, longestTimer)).unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    // A timer may fire a little early.
    const now = performance.now() + 1;
    let next = Infinity;
    for (const waiting of this.#waiting) {
      const { deadline = Infinity } = waiting.scope;
      if (deadline > now) {
        next = Math.min(next, deadline);
        continue;
      }
      this.#waiting.delete(waiting);
      const error = timedOut(this.#timeoutMs);
      waiting.expire(error);
      waiting.scope.abort(error);
    }
    if (next !== Infinity) this.#sweepIn(next - now);
  }
}

/** A longer timer would fire at once. */
const longestTimer = 2 ** 31 - 1;

const timedOut = (ms: number) =>
  new LimitError('call-timeout', {
    code: 'GATEWAY_TIMEOUT',
    message: `The call took longer than ${ms} ms; whether it had an effect is unknown.`,
  });
