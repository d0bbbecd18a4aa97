import { type MaybePromise, type KeyIdentity, StoreError } from '@petstore/core';
import { TRPCError } from '@trpc/server';

type Verify = (token: string) => MaybePromise<KeyIdentity | undefined>;

/**
 * Checks tokens for the gateway. While the keys cannot be read nothing is known about a key: 503, never 401. A verdict
 * that is at hand costs no promise.
 */
export function authenticateWith(verify: Verify): Verify {
  return (token) => {
    try {
      const identity = verify(token);
      return identity instanceof Promise ? identity.catch(unavailable) : identity;
    } catch (error) {
      return unavailable(error);
    }
  };
}

function unavailable(error: unknown): never {
  if (!(error instanceof StoreError)) throw error;
  throw new TRPCError({
    code: 'SERVICE_UNAVAILABLE',
    message: 'API keys cannot be checked now. Try again later.',
    cause: error,
  });
}
