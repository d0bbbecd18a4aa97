// Hot path: called for every request and message.
import { cpuMs, nextTurn, performance, unref } from './eventLoop.ts';

/** Maximum number of requests and messages in one turn of the event loop. */
const maxPerTurn = 500;

/** Longest turn, in ms. Clock and processor time must both exceed it: while others run, a turn does no work. */
const maxTurnMs = 20;

/** Number of light requests between two readings of the clock: one costs 50 ns, 0.5% of a GET. */
const requestsPerReading = 4;

/** Delay in milliseconds of the timer that shows the end of a turn. Scheduling each end would cost 0.4 µs per request. */
const timerMs = 5;

/** Count at which the end of the turn is scheduled even if all requests were fast. */
const watchedCount = 64;

/**
 * The budget of a turn of the event loop, by count and by time. A client that sends many requests at once, or many
 * messages, gets them served in slices, so that other clients, timers and new connections are not kept waiting: one read of
 * uWebSockets.js, 512 KiB, may contain 19,000 requests of 27 bytes or 65,000 messages.
 */
export class Turn {
  /** Number of requests and messages in this turn, and some of earlier turns while the turn is not watched. */
  #count = 0;
  /** Whether the end of the turn is scheduled. */
  #isWatched = false;
  /**
   * Whether the timer is running. While the turn is not watched, its time is counted from when the timer was started: if
   * the timer is late, the turn has not ended since it was due.
   */
  #isTimed = false;
  /** When the clock and the processor time exceed these, the turn is over. */
  #checkAt = 0;
  #endCpuMs = 0;
  #isOver = false;
  #waiting: (() => void)[] = [];
  #waitingRequests = 0;

  /**
   * Counts a request or a message. Call it for each, rejected ones included.
   * @param isLight whether it contains nothing that may take long, neither a body nor a query: the clock is then read for
   *   some of them only
   * @returns whether the budget is spent, so that what can wait should wait until the next turn: pass it to `later`
   */
  spend(isLight = false): boolean {
    this.#count += 1;
    if (!this.#isWatched) {
      if (!this.#isTimed) return this.#startTimer();
      if (this.#count >= watchedCount) this.#watch();
      else if (isLight && this.#count % requestsPerReading !== 0) return false;
    }
    if (this.#count <= maxPerTurn && !this.#isOver) {
      const now = performance.now();
      if (now < this.#checkAt) return false;
      const leftMs = this.#endCpuMs - cpuMs();
      this.#isOver = leftMs <= 0;
      this.#checkAt = now + leftMs;
      if (leftMs > 0) return false;
    }
    this.#watch();
    return true;
  }

  /** Runs a task in a later turn, in the order of the calls and within the budget of that turn. */
  later(task: () => void): void {
    this.#waiting.push(task);
    this.#watch();
  }

  /** Handles a request in a later turn, as `later`. */
  laterRequest(handle: () => void): void {
    this.#waitingRequests += 1;
    this.later(() => {
      this.#waitingRequests -= 1;
      handle();
    });
  }

  get hasWaitingRequests(): boolean {
    return this.#waitingRequests > 0;
  }

  /** @returns false: the first reading of the clock spends nothing */
  #startTimer(): false {
    this.#isTimed = true;
    // The timer may have been started in an earlier turn.
    this.#startTime(timerMs + maxTurnMs);
    unref(setTimeout(() => (this.#isTimed = false), timerMs));
    return false;
  }

  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    nextTurn(this.#onEnd);
  }

  readonly #onEnd = (): void => {
    const tasks = this.#waiting;
    if (tasks.length === 0) {
      this.#count = 0;
      this.#isOver = false;
      this.#isWatched = false;
      this.#isTimed = false;
      return;
    }
    let next = 0;
    this.#waiting = [];
    this.#restart();
    try {
      for (let isSpent = false; next < tasks.length && !isSpent; isSpent = this.spend()) {
        next += 1;
        tasks[next - 1]?.();
      }
    } finally {
      // Tasks that have waited longer run first.
      this.#waiting = [...tasks.slice(next), ...this.#waiting];
      // Clients that have just sent something get a budget of their own, before the next tasks.
      this.#restart();
      nextTurn(this.#onEnd);
    }
  };

  #restart(): void {
    this.#count = 0;
    this.#isOver = false;
    this.#startTime(maxTurnMs);
  }

  #startTime(ms: number): void {
    this.#checkAt = performance.now() + ms;
    this.#endCpuMs = cpuMs() + ms;
  }
}

/** The turn of the event loop of this thread: all servers share it. */
export const turn = new Turn();
