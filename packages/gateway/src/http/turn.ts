// Hot path: called for every request and message.
import { cpuMs, nextTurn, performance } from './eventLoop.ts';

/** Maximum number of requests and messages in one turn of the event loop. */
const maxPerTurn = 500;

/**
 * Maximum time for requests and messages in one turn of the event loop, in milliseconds. Both the clock and the processor
 * time must exceed it: while the system runs other processes, a turn does no work.
 */
const maxTurnMs = 20;

/** Number of requests between two readings of the clock: one costs 50 ns, 0.5% of a GET. */
const requestsPerReading = 4;

/**
 * Count at which the end of the turn is scheduled even if all requests were fast. Scheduling it in each turn would cost
 * 0.4 µs per request.
 */
const watchedCount = 64;

/**
 * The budget of a turn of the event loop, by count and by time. A client that sends many requests at once, or many
 * messages, gets them served in slices, so that other clients, timers and new connections are not kept waiting: one read of
 * uWebSockets.js, 512 KiB, may contain 19,000 requests of 27 bytes or 65,000 messages.
 */
export class Turn {
  /** Number of requests and messages in this turn, and up to 63 of earlier turns. */
  #count = 0;
  /** Whether the end of the turn is scheduled, so that its time is measured. */
  #isWatched = false;
  /** When the clock was read last, while the turn is not watched. */
  #readAt = 0;
  /** Processor time of the process when the turn began, and from when on it is compared again. */
  #startCpuMs = 0;
  #checkAt = 0;
  #isOver = false;
  #waiting: (() => void)[] = [];

  /**
   * Counts a request or a message. Call it for each, rejected ones included.
   * @returns whether the budget is spent, so that what can wait should wait until the next turn: pass it to `later`
   */
  spend(): boolean {
    this.#count += 1;
    if (this.#isWatched) return this.#count > maxPerTurn || this.#hasNoTimeLeft();
    if (this.#count % requestsPerReading !== 0) return false;
    const now = performance.now();
    // Either the last requests took that long, or there were none in the meantime.
    const mayBeSlow = now - this.#readAt > maxTurnMs;
    this.#readAt = now;
    if (mayBeSlow || this.#count >= watchedCount) this.#watch(now);
    return false;
  }

  /** Runs a task in a later turn, in the order of the calls and within the budget of that turn. */
  later(task: () => void): void {
    this.#waiting.push(task);
    if (!this.#isWatched) this.#watch(performance.now());
  }

  #hasNoTimeLeft(): boolean {
    if (this.#isOver) return true;
    const now = performance.now();
    if (now < this.#checkAt) return false;
    const leftMs = maxTurnMs - (cpuMs() - this.#startCpuMs);
    this.#isOver = leftMs <= 0;
    this.#checkAt = now + leftMs;
    return this.#isOver;
  }

  #watch(now: number): void {
    this.#isWatched = true;
    this.#startTime(now);
    nextTurn(this.#onEnd);
  }

  readonly #onEnd = (): void => {
    const tasks = this.#waiting;
    if (tasks.length === 0) {
      this.#count = 0;
      this.#isWatched = false;
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
    this.#startTime(performance.now());
  }

  #startTime(now: number): void {
    this.#isOver = false;
    this.#checkAt = now + maxTurnMs;
    this.#startCpuMs = cpuMs();
  }
}

/** The turn of the event loop of this thread: all servers share it. */
export const turn = new Turn();
