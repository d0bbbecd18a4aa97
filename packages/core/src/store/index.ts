// For authors of stores: the port, and what every store does in the same way.
export {
  type CollectionDefinition,
  defineCollection,
  type IndexedCondition,
  indexedCondition,
  type IndexKind,
  type NewRecord,
  type RecordChange,
  singular,
  type StoredRecord,
} from './collection.ts';
export { openedCollections } from './openedCollections.ts';
export {
  applyChange,
  buildRecord,
  checkVersion,
  expectedVersion,
  fingerprint,
  MAX_RESERVATIONS,
  mismatch,
  RESERVATION_MS,
  throwIncompatible,
  tooManyReservations,
} from './record.ts';
export type {
  CallOptions,
  ChangeOptions,
  Collection,
  Created,
  KeyRecord,
  KeyStore,
  ListQuery,
  MaybePromise,
  Page,
  Reservation,
  Store,
  StoreCloseOptions,
  StoreOptions,
} from './store.ts';
export { StoreError, type StoreErrorCode } from './storeError.ts';
export {
  batchLimit,
  type CollectionTransfer,
  type CopyableStore,
  isSameKey,
  recordConflict,
  shouldPutReservation,
  type StoredReservation,
  type StoreTransfer,
} from './transfer.ts';
