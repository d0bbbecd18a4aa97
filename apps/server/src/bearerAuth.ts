import { type MaybePromise, type KeyIdentity, StoreError } from '@petstore/core';
import { TRPCError } from '@trpc/server';
import { bearer } from 'trpc-gateway';

/** Returns the identity of an API key; `undefined` if it is not valid. */
export type VerifyToken = (token: string) => MaybePromise<KeyIdentity | undefined>;

/** Bearer authentication with the API keys of the store, for tRPC, REST and MCP. */
export const bearerAuth = (verify: VerifyToken) =>
  bearer({ realm: 'petstore', noun: 'API key', verify: authenticateWith(verify) });

/** Creates the token check: 503 and never 401 if keys cannot be read. Cached results are synchronous. */
export function authenticateWith(verify: VerifyToken): VerifyToken {
  return (token) => {
    try {
      const identity = verify(token);
      return identity instanceof Promise ? identity.catch(throwUnavailable) : identity;
    } catch (error) {
      return throwUnavailable(error);
    }
  };
}

function throwUnavailable(error: unknown): never {
  if (!(error instanceof StoreError)) throw error;
  throw new TRPCError({
    code: 'SERVICE_UNAVAILABLE',
    message: 'API keys cannot be verified at the moment. Try again later.',
    cause: error,
  });
}
