import { StoreError, type StoreErrorCode } from '@petstore/core';

/** The errors of a store. `bug` is an error that is not a `StoreError`. */
export type StoreFault = StoreErrorCode | 'bug';

/** The faults that any method may have, in the order in which `failingServer.ts` injects them. */
export const storeFaults = [
  'unavailable',
  'full',
  'forbidden',
  'outcome-unknown',
  'damaged',
  'incompatible',
  'bug',
] as const satisfies readonly StoreFault[];

/** Text of store errors that must not reach clients. */
export const innerText = 'inner text of /data/petstore.mdb';

export const storeFault = (fault: StoreFault): Error =>
  fault === 'bug' ? new TypeError(`${innerText}.`) : new StoreError(fault, `${innerText}.`);
