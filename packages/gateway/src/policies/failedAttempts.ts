import { mapMaybePromise, type MaybePromise } from '../http/maybePromise.ts';
import type { HttpRequest } from '../http/request.ts';
import { requirePositiveIntegers } from './limits.ts';
import type { ClientAddress } from './clientAddress.ts';
import { LimitError } from '../procedures/limitError.ts';
import { RecentMap } from './recentMap.ts';
import type { State } from './state.ts';
import { createSharedTokenBuckets, createTokenBuckets } from './tokenBuckets.ts';

/** How many bad tokens one client address may try: further ones are answered 429 in place of 401. */
export interface FailedAttemptsOptions {
  readonly attempts: number;
  readonly windowSeconds: number;
  /**
   * Where attempts are counted that processes count together. While it cannot be reached, each process counts for itself.
   * WebSockets that send no credential in time are also limited by each process. Default: in this process alone.
   */
  readonly state?: State;
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
   * @param noun what the message calls the credential
   * @returns why no more are answered, where the address had too many
   */
  count(
    request: HttpRequest,
    token: string,
    lookedUpAt: number | undefined,
    noun: string,
  ): MaybePromise<LimitError | undefined>;
  /** Counts a WebSocket that sent no credential in time. */
  countSilent(request: HttpRequest): void;
  /** Why an address that had too many of those may open no further one without a credential. */
  silentRefusal(request: HttpRequest): LimitError | undefined;
}

/** For how long a verdict stands: a key that is added now must be good within a second. */
const badMs = 500;

const mostKnown = 10_000;

/** The largest length of a short token. A longer one, such as a JWT, is kept whole too, but few are. */
const shortLength = 128;
/** 8 MB of tokens that fill `maxHeaderBytes`. Within `badMs`, no script sends more than this. */
const mostLongKnown = 500;

/**
 * A good token is never refused for what others of its address sent: each token that is not known to be bad is looked
 * up. Verdicts are kept for as many tokens as an address may try, so nobody can fill the memory with them, or drive out
 * those of others.
 * @throws {GatewayError} for what is no number of attempts or seconds
 */
export function createFailedAttempts(
  { attempts, windowSeconds, state }: FailedAttemptsOptions,
  clientAddress: ClientAddress,
): FailedAttempts {
  requirePositiveIntegers('failedAttempts', { attempts, windowSeconds });
  const take = state
    ? createSharedTokenBuckets('failedAttempts', state, { size: attempts, windowMs: windowSeconds * 1000 })
    : createTokenBuckets(attempts, windowSeconds * 1000);
  // Apart: a bad token, which a script of the same office may go on sending, keeps no browser's socket out.
  const takeSilent = createTokenBuckets(attempts, windowSeconds * 1000);
  const shortBadUntil = new RecentMap<number>(mostKnown);
  const longBadUntil = new RecentMap<number>(mostLongKnown);
  const badUntil = (token: string) => (token.length <= shortLength ? shortBadUntil : longBadUntil);

  const tooMany = (what: string, waitMs: number) =>
    new LimitError('failed-attempts', {
      code: 'TOO_MANY_REQUESTS',
      message: `Too many ${what} came from this address: ${attempts} may in ${windowSeconds} s.`,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });

  return {
    known: () => shortBadUntil.size + longBadUntil.size,
    isKnown: (token) => (badUntil(token).get(token) ?? 0) > performance.now(),
    count(request, token, lookedUpAt, noun) {
      return mapMaybePromise(take(clientAddress(request), 1), ({ isTaken, waitMs }) => {
        const verdicts = badUntil(token);
        // Past the limit only what was remembered before: whoever goes on with one bad token is not looked up each time.
        if (lookedUpAt !== undefined && (isTaken || verdicts.get(token) !== undefined)) {
          verdicts.set(token, lookedUpAt + badMs);
        }
        return isTaken ? undefined : tooMany(`${noun}s that are not valid`, waitMs);
      });
    },
    countSilent(request) {
      const address = clientAddress(request);
      void take(address, 1);
      takeSilent(address, 1);
    },
    silentRefusal(request) {
      const { left } = takeSilent(clientAddress(request), 0);
      // By then there is another attempt.
      const waitMs = (windowSeconds * 1000) / attempts;
      return left > 0 ? undefined : tooMany('WebSockets that sent no credential in time', waitMs);
    },
  };
}
