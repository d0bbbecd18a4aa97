import { TRPCError } from '@trpc/server';
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';

export type Keys = ReturnType<typeof createLocalJWKSet>;

interface Fetched {
  readonly keys: Keys;
  readonly text: string;
  /** When its request began, by `performance.now()`: keys that were published before are in it. */
  readonly since: number;
}

/** How often the keys are requested at most, in milliseconds, whatever key ids clients make up. */
const minIntervalMs = 1000;

/** How long an issuer may take, in milliseconds. */
const timeoutMs = 5000;

/** For how long known keys are used while their issuer is away, in milliseconds. */
const maxStaleMs = 86_400_000;

/** How many tokens with unknown keys may wait for newer keys. */
const maxWaiting = 100;

/** The public keys of an issuer (JSON Web Key Set, RFC 7517 §5), as they change. */
export class KeySet {
  readonly #uri: string;
  readonly #maxAgeMs: number;
  #fetched: Fetched | undefined;
  /** The request that is under way. */
  #fetching: Promise<Fetched> | undefined;
  /** The request after it, which those wait for that need newer keys. */
  #next: Promise<Fetched> | undefined;
  #waiting = 0;
  /** When the last request began. */
  #lastSince = -Infinity;
  #lastError: TRPCError | undefined;

  constructor(uri: string, maxAgeMs: number) {
    this.#uri = uri;
    this.#maxAgeMs = maxAgeMs;
  }

  /**
   * The keys that are known. The first are waited for; old ones are renewed meanwhile, and used while the issuer is away.
   * It returns the same object until a key changes. @throws {TRPCError} `SERVICE_UNAVAILABLE`
   */
  current(): Keys | Promise<Keys> {
    const now = performance.now();
    const fetched = this.#fetched;
    const age = fetched ? now - fetched.since : Infinity;
    if (age <= this.#maxAgeMs) return (fetched as Fetched).keys;
    if (!this.#fetching && this.#lastError && now - this.#lastSince < minIntervalMs) {
      if (age > maxStaleMs) throw this.#lastError;
    } else {
      const fetching = this.#fetch();
      if (age > maxStaleMs) return fetching.then(({ keys }) => keys);
      // The next token begins another request.
      fetching.catch(() => {});
    }
    return (fetched as Fetched).keys;
  }

  /**
   * Keys that were requested after a point in time (`performance.now()`), for a token whose key is not known: a key that is
   * published before the token is sent is among them. @throws {TRPCError} `SERVICE_UNAVAILABLE`
   */
  async since(time: number): Promise<Keys> {
    if (this.#fetched && this.#fetched.since >= time) return this.#fetched.keys;
    if (this.#waiting >= maxWaiting) throw unavailable();
    this.#waiting += 1;
    try {
      return (await (this.#next ??= this.#fetchNext())).keys;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #fetchNext(): Promise<Fetched> {
    await this.#fetching?.catch(() => {});
    const waitMs = this.#lastSince + minIntervalMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    await this.#fetching?.catch(() => {});
    // Tokens that come from now on need yet another request.
    this.#next = undefined;
    return this.#fetch();
  }

  #fetch(): Promise<Fetched> {
    return (this.#fetching ??= this.#request().finally(() => {
      this.#fetching = undefined;
    }));
  }

  async #request(): Promise<Fetched> {
    const since = performance.now();
    this.#lastSince = since;
    try {
      const response = await fetch(this.#uri, {
        headers: { accept: 'application/jwk-set+json, application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${this.#uri} answered ${response.status}.`);
      const isSame = text === this.#fetched?.text;
      const keys = isSame ? this.#fetched?.keys : undefined;
      this.#fetched = { keys: keys ?? createLocalJWKSet(JSON.parse(text) as JSONWebKeySet), text, since };
      this.#lastError = undefined;
      return this.#fetched;
    } catch (cause) {
      this.#lastError = unavailable(cause);
      throw this.#lastError;
    }
  }
}

/** While keys cannot be read nothing is known about a token: 503, never 401. */
export const unavailable = (cause?: unknown): TRPCError =>
  new TRPCError({
    code: 'SERVICE_UNAVAILABLE',
    message: 'Access tokens cannot be checked now. Try again later.',
    cause,
  });
