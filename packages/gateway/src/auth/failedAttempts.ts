import { mapMaybePromise, type MaybePromise } from '../http/maybePromise.ts';
import type { HttpRequest } from '../http/request.ts';
import type { ClientAddress } from '../calls/clientAddress.ts';
import { LimitError } from '../procedures/limitError.ts';
import { RecentMap } from '../state/recentMap.ts';
import type { State } from '../state/sharedState.ts';
import { createSharedTokenBuckets, createTokenBuckets } from '../state/tokenBuckets.ts';

/** A limit for invalid credentials per client address. Requests over the limit get 429 instead of 401. */
export interface FailedAttemptsOptions {
  /** The number of invalid credentials that an address may send per window. A positive integer. */
  readonly attempts: number;
  /** The length of the window, in milliseconds. A positive integer. */
  readonly windowMs: number;
}

/** How long a rejection is remembered, in milliseconds. A key that is added now must work within a second. */
const rejectionTtlMs = 500;

/** Most remembered rejections: 16 MB if each token fills `maxHeaderSize`. A script sends fewer within `rejectionTtlMs`. */
const maxRejections = 1000;

/** Remembers rejected credentials for a moment, and counts the failed attempts of each client address. */
export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/**
 * Never rejects a valid credential because of its address: tokens not remembered as invalid are verified. An address
 * over its limit adds no rejections: it can neither fill the memory nor displace those of others.
 */
export function createFailedAttempts(
  { attempts, windowMs }: FailedAttemptsOptions,
  clientAddress: ClientAddress,
  state?: State,
) {
  const bucket = { size: attempts, windowMs };
  const take = createSharedTokenBuckets('failedAttempts', state, bucket);
  // Separate: a script that repeats a bad token must not block WebSockets of browsers at its address.
  const takeSilent = createTokenBuckets(bucket);
  const rejectedUntil = new RecentMap<number>(maxRejections);

  const tooManyAttempts = (what: string, waitMs: number) =>
    new LimitError('failed-attempts', {
      code: 'TOO_MANY_REQUESTS',
      message: `Too many ${what} from this address: the limit is ${attempts} in ${windowMs / 1000} s. Try again later.`,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });

  return {
    rememberedRejections: (): number => rejectedUntil.size,
    /** Whether this credential was verified and rejected a moment ago. */
    wasRejected: (token: string): boolean => (rejectedUntil.get(token) ?? 0) > performance.now(),
    /**
     * Counts a failed attempt.
     * @param lookedUpAt when the verification started (`performance.now()`); `undefined` if it was synchronous or the
     *   rejection is remembered already
     * @param noun what error messages call the credential
     * @returns the error for an address with too many attempts
     */
    countFailure(
      request: HttpRequest,
      token: string,
      lookedUpAt: number | undefined,
      noun: string,
    ): MaybePromise<LimitError | undefined> {
      return mapMaybePromise(take(clientAddress(request), 1), ({ isTaken, waitMs }) => {
        // Over the limit, only remembered rejections are renewed: repeating a bad token verifies nothing.
        if (lookedUpAt !== undefined && (isTaken || rejectedUntil.get(token) !== undefined)) {
          rejectedUntil.set(token, lookedUpAt + rejectionTtlMs);
        }
        return isTaken ? undefined : tooManyAttempts(`invalid ${noun}s`, waitMs);
      });
    },
    /** Counts a WebSocket that sent no credential in time. */
    countSilentSocket(request: HttpRequest): void {
      const address = clientAddress(request);
      void take(address, 1);
      takeSilent(address, 1);
    },
    /** Returns an error if an address has opened too many WebSockets without sending a credential. */
    silentRejection(request: HttpRequest): LimitError | undefined {
      const { left } = takeSilent(clientAddress(request), 0);
      // The time until the bucket has another token.
      const waitMs = windowMs / attempts;
      return left > 0 ? undefined : tooManyAttempts('WebSockets without a credential', waitMs);
    },
  };
}
