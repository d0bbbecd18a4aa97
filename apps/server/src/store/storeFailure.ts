import { type Store, StoreError } from '@petstore/core';
import { type Checks, NotReadyError } from 'trpc-gateway-runtime/health';

/** Returns the readiness check of the store. The reason is the code of the store's error. */
export const storeChecks = (store: Pick<Store, 'ready'>): Checks => ({
  // Named for the reason if the store does not respond in time.
  async unavailable() {
    try {
      await store.ready();
    } catch (cause) {
      throw new NotReadyError(cause instanceof StoreError ? cause.code : 'unknown', { cause });
    }
  },
});

/** Returns the log fields of a request that failed because of the store, or `undefined` for other errors. */
export function storeFailure(error: unknown): { readonly store: string } | undefined {
  const cause = error instanceof Error && !(error instanceof StoreError) ? error.cause : error;
  return cause instanceof StoreError ? { store: cause.code } : undefined;
}
