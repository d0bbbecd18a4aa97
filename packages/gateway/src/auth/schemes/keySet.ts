import { TRPCError } from '@trpc/server';
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';

export type Keys = ReturnType<typeof createLocalJWKSet>;

interface FetchedKeys {
  readonly keys: Keys;
  readonly text: string;
  /** When the request started (`performance.now()`). Keys that were published before are included. */
  readonly since: number;
}

/**
 * The shortest time between two requests for keys, in milliseconds, so that clients with invented key ids cause few.
 */
const minIntervalMs = 1000;

/** The timeout of a request for keys, in milliseconds. */
const timeoutMs = 5000;

/** How long known keys are used while the issuer is unavailable, in milliseconds. */
const maxStaleMs = 86_400_000;

/** How many tokens with unknown keys may wait for newer keys at once. */
const maxWaiting = 100;

/** Loads and caches the public keys of an issuer (JSON Web Key Set, RFC 7517 §5). */
export class KeySet {
  readonly #uri: string;
  readonly #maxAgeMs: number;
  #fetched: FetchedKeys | undefined;
  /** The current request. */
  #fetching: Promise<FetchedKeys> | undefined;
  /** The request after the current one. Tokens that need newer keys wait for it. */
  #next: Promise<FetchedKeys> | undefined;
  #waiting = 0;
  /** When the last request started. */
  #lastSince = -Infinity;
  #lastError: TRPCError | undefined;

  constructor(uri: string, maxAgeMs: number) {
    this.#uri = uri;
    this.#maxAgeMs = maxAgeMs;
  }

  /**
   * Returns the current keys; a promise if none are loaded yet. Keys older than the maximum age are still returned
   * while they are reloaded in the background, and while the issuer is unavailable. It returns the same object until a
   * key changes.
   * @throws {TRPCError} `SERVICE_UNAVAILABLE`
   */
  current(): Keys | Promise<Keys> {
    const now = performance.now();
    const fetched = this.#fetched;
    const age = fetched ? now - fetched.since : Infinity;
    if (age <= this.#maxAgeMs) return (fetched as FetchedKeys).keys;
    if (!this.#fetching && this.#lastError && now - this.#lastSince < minIntervalMs) {
      if (age > maxStaleMs) throw this.#lastError;
    } else {
      const fetching = this.#fetch();
      if (age > maxStaleMs) return fetching.then(({ keys }) => keys);
      // After an error, the next token starts another request.
      fetching.catch(() => {});
    }
    return (fetched as FetchedKeys).keys;
  }

  /**
   * Returns keys that were requested after a time (`performance.now()`), for a token with an unknown key. They include
   * every key that was published before the token was sent.
   * @throws {TRPCError} `SERVICE_UNAVAILABLE`
   */
  async since(time: number): Promise<Keys> {
    if (this.#fetched && this.#fetched.since >= time) return this.#fetched.keys;
    if (this.#waiting >= maxWaiting) throw keysUnavailable();
    this.#waiting += 1;
    try {
      return (await (this.#next ??= this.#fetchNext())).keys;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #fetchNext(): Promise<FetchedKeys> {
    await this.#fetching?.catch(() => {});
    const waitMs = this.#lastSince + minIntervalMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    await this.#fetching?.catch(() => {});
    // Tokens that arrive from now on need another request.
    this.#next = undefined;
    return this.#fetch();
  }

  #fetch(): Promise<FetchedKeys> {
    return (this.#fetching ??= this.#request().finally(() => {
      this.#fetching = undefined;
    }));
  }

  async #request(): Promise<FetchedKeys> {
    const since = performance.now();
    this.#lastSince = since;
    try {
      const response = await fetch(this.#uri, {
        headers: { accept: 'application/jwk-set+json, application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if (response.status !== 200)
        throw new Error(`${this.#uri} responded with the status ${response.status}.`);
      const isUnchanged = text === this.#fetched?.text;
      const keys = isUnchanged ? this.#fetched?.keys : undefined;
      this.#fetched = { keys: keys ?? createLocalJWKSet(JSON.parse(text) as JSONWebKeySet), text, since };
      this.#lastError = undefined;
      return this.#fetched;
    } catch (cause) {
      this.#lastError = keysUnavailable(cause);
      throw this.#lastError;
    }
  }
}

/** The error while keys cannot be loaded. The token may be valid, so it is a 503, not a 401. */
export const keysUnavailable = (cause?: unknown): TRPCError =>
  new TRPCError({
    code: 'SERVICE_UNAVAILABLE',
    message: 'Access tokens cannot be verified at the moment. Try again later.',
    cause,
  });
