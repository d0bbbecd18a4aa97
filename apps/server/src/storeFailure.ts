import { StoreError } from '@petstore/core';

/** What the log says of a request that failed because of the store. */
export function storeFailure(error: unknown): { readonly store: string } | undefined {
  const cause = error instanceof Error && !(error instanceof StoreError) ? error.cause : error;
  return cause instanceof StoreError ? { store: cause.code } : undefined;
}
