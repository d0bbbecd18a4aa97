import { type Store, StoreError } from '@petstore/core';
import { type Checks, NotReadyError } from '@petstore/runtime/health';

/** The store's check of readiness: its reason is the code of the store's error. */
export const storeChecks = (store: Pick<Store, 'ready'>): Checks => ({
  async store() {
    try {
      await store.ready();
    } catch (cause) {
      throw new NotReadyError(cause instanceof StoreError ? cause.code : 'unknown', { cause });
    }
  },
});

/** What the log says of a request that failed because of the store. */
export function storeFailure(error: unknown): { readonly store: string } | undefined {
  const cause = error instanceof Error && !(error instanceof StoreError) ? error.cause : error;
  return cause instanceof StoreError ? { store: cause.code } : undefined;
}
