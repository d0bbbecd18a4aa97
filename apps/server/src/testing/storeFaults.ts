import { StoreError, type StoreErrorCode } from '@petstore/core';

/** What a store may fail with; `bug` is no `StoreError`. */
export type StoreFault = StoreErrorCode | 'bug';

/** The faults that a call of any method may meet, in the order in which `failingServer.ts` injects them, and then again. */
export const storeFaults = [
  'unavailable',
  'full',
  'forbidden',
  'outcome-unknown',
  'damaged',
  'bug',
] as const satisfies readonly StoreFault[];

/** What no client may see. */
export const innerText = 'inner text of /data/petstore.mdb';

export const storeFault = (fault: StoreFault): Error =>
  fault === 'bug' ? new TypeError(`${innerText}.`) : new StoreError(fault, `${innerText}.`);
