import { performance, unref } from '../http/eventLoop.ts';
import type { MaybePromise } from '../http/maybePromise.ts';
import type { State } from '../state/sharedState.ts';
import { StateTimeoutError, withinStateTimeout } from '../state/stateTimeout.ts';

/** How long a request waits for the state, in milliseconds, unless `callTimeoutMs` is shorter. */
const maxWaitMs = 1500;

/** How long the state may take to store or remove a value in the background, in milliseconds. */
const attemptTimeoutMs = 10_000;

/** The pauses between attempts, in milliseconds: doubled after each. */
const firstPauseMs = 50;
const longestPauseMs = 10_000;

/** How long the state may still store a value after it did not respond, and after an error, in milliseconds. */
const lateAfterTimeoutMs = 60_000;
const lateAfterErrorMs = 1000;

/** The approximate memory of values that are stored or removed in the background, in bytes. Over it, keys are rejected. */
const maxBackgroundBytes = 67_108_864;

/** The memory of an action in the background besides its value, in bytes (Node 22). */
const actionBytes = 1600;

export interface ReservedKey {
  readonly key: string;
  /** Different for each request. */
  readonly value: string;
  readonly caller: string;
}

/** Requests wait until a deadline. Writes are repeated until they succeed or the key expires. */
export class IdempotencyState {
  readonly #state: State;
  readonly #ttlMs: number;
  readonly #waitMs: number;
  #backgroundBytes = 0;
  /** While the state does not respond, when the next request tries it (`performance.now()`). */
  #retriesAt: number | undefined = undefined;

  constructor(state: State, ttlMs: number, callTimeoutMs: number) {
    this.#state = state;
    this.#ttlMs = ttlMs;
    this.#waitMs = Math.min(maxWaitMs, callTimeoutMs);
  }

  /**
   * Reserves a key.
   * @returns the existing value; `undefined` if the key is reserved
   * @throws the state's error, or a `StateTimeoutError`; the key is not reserved, or will be released
   */
  async reserve(reserved: ReservedKey, ttlMs: number): Promise<string | undefined> {
    const { key, value } = reserved;
    const now = performance.now();
    if ((this.#retriesAt ?? 0) > now) throw new Error('The state did not respond to earlier requests.');
    if (this.#backgroundBytes >= maxBackgroundBytes) {
      throw new Error(
        `The state has yet to store or remove ${this.#backgroundBytes} bytes of earlier requests.`,
      );
    }
    // One request tries a state that did not respond; until it responds, the others are rejected at once.
    if (this.#retriesAt !== undefined) this.#retriesAt = now + this.#waitMs;
    try {
      const adding = (async () => this.#state.add(key, value, ttlMs))();
      const existing = await withinStateTimeout(adding, this.#waitMs);
      this.#retriesAt = undefined;
      // A write that the state repeated after its reply was lost.
      return existing === value ? undefined : existing;
    } catch (cause) {
      const isTimeout = cause instanceof StateTimeoutError;
      this.#retriesAt = isTimeout ? performance.now() + this.#waitMs : undefined;
      // The value may have been stored, or may be stored later: a removal that succeeds is repeated until then.
      const notBefore = Date.now() + (isTimeout ? lateAfterTimeoutMs : lateAfterErrorMs);
      this.#countBytes(
        value,
        this.#repeat(() => this.#state.delete(key, value), notBefore),
      );
      throw cause;
    }
  }

  /** Stores a response under a reserved key. @throws if it is not stored in time; then storing goes on */
  async store({ key, caller }: ReservedKey, response: string): Promise<void> {
    await this.#inTime(response, () => this.#state.set(key, response, this.#ttlMs, caller));
  }

  /** Releases a reserved key. @throws if it is not released in time; then releasing goes on */
  async release({ key, value }: ReservedKey): Promise<void> {
    await this.#inTime(value, () => this.#state.delete(key, value));
  }

  async #inTime(value: string, action: () => MaybePromise<void>): Promise<void> {
    let lastError: unknown;
    const done = this.#repeat(action, 0, (cause) => (lastError = cause));
    try {
      await withinStateTimeout(done, this.#waitMs);
    } catch {
      this.#countBytes(value, done);
      const message = `Idempotency-Key: the state did not store the response or release the key within ${this.#waitMs} ms. The response was sent, and the attempts go on in the background.`;
      throw new Error(message, lastError === undefined ? undefined : { cause: lastError });
    }
  }

  /** Repeats until success, at least until `notBefore` (epoch ms). @throws the last error after the TTL */
  async #repeat(
    action: () => MaybePromise<void>,
    notBefore: number,
    onError?: (cause: unknown) => void,
  ): Promise<void> {
    const expiresAt = Date.now() + this.#ttlMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        await withinStateTimeout((async () => action())(), attemptTimeoutMs);
        if (Date.now() >= notBefore) return;
      } catch (cause) {
        onError?.(cause);
        if (Date.now() >= expiresAt) throw cause;
      }
      await pause(pauseMs);
    }
  }

  /** Counts the memory of a value until its action in the background ends. */
  #countBytes(value: string, action: Promise<void>): void {
    const bytes = actionBytes + 2 * value.length;
    const end = () => void (this.#backgroundBytes -= bytes);
    this.#backgroundBytes += bytes;
    action.then(end, end);
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => void unref(setTimeout(resolve, ms)));
