import { hash } from 'node:crypto';
import type { GatewayRequest } from '../http.ts';
import { requirePositiveIntegers } from '../limits.ts';
import type { ClientAddress } from './clientAddress.ts';
import { LimitError } from './limitError.ts';
import { RecentMap } from './recentMap.ts';
import { createTokenBuckets } from './tokenBuckets.ts';

/** How many bad tokens one client address may try: further ones are answered 429 in place of 401. */
export interface FailedAttemptsOptions {
  readonly attempts: number;
  readonly windowSeconds: number;
}

/** What is known of tokens that were not good, and of who sent them. */
export interface FailedAttempts {
  /** How many verdicts are kept. */
  readonly known: () => number;
  /** Whether the token was looked up a moment ago, and was not good. */
  isKnown(token: string): boolean;
  /**
   * Counts an attempt.
   * @param lookedUpAt when its look-up began (`performance.now()`), where one is worth saving
   * @returns why no more are answered, where the address had too many
   */
  count(request: GatewayRequest, token: string, lookedUpAt: number | undefined): LimitError | undefined;
}

/** For how long a verdict stands: a key that is added now must be good within a second. */
const badMs = 500;

const mostKnown = 10_000;

/**
 * A good token is never refused for what others of its address sent: each token that is not known to be bad is looked
 * up. Verdicts are kept for as many tokens as an address may try, so nobody can fill the memory with them, or drive out
 * those of others.
 * @throws {GatewayError} for what is no number of attempts or seconds
 */
export function createFailedAttempts(
  { attempts, windowSeconds }: FailedAttemptsOptions,
  clientAddress: ClientAddress,
): FailedAttempts {
  requirePositiveIntegers('failedAttempts', { attempts, windowSeconds });
  const take = createTokenBuckets(attempts, windowSeconds * 1000);
  const badUntil = new RecentMap<number>(mostKnown);

  return {
    known: () => badUntil.size,
    isKnown: (token) => (badUntil.get(digest(token)) ?? 0) > performance.now(),
    count(request, token, lookedUpAt) {
      const { isTaken, waitMs } = take(clientAddress(request), 1);
      const name = digest(token);
      // Past the limit only what was remembered before: whoever goes on with one bad token is not looked up each time.
      if (lookedUpAt !== undefined && (isTaken || badUntil.get(name) !== undefined)) {
        badUntil.set(name, lookedUpAt + badMs);
      }
      if (isTaken) return undefined;
      return new LimitError('failed-attempts', {
        code: 'TOO_MANY_REQUESTS',
        message: `Too many API keys that are not valid came from this address: ${attempts} may in ${windowSeconds} s.`,
        retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      });
    },
  };
}

/** A token is as long as its sender likes, and may be a good one with a slip. */
const digest = (token: string) => hash('sha256', token, 'base64url');
