export { hashKey, issueKey, type IssuedKey } from './keys/apiKey.ts';
export {
  createKeyVerifier,
  type KeyIdentity,
  type KeyVerifier,
  type KeyVerifierOptions,
} from './keys/keyVerifier.ts';
export { collections } from './collections.ts';
export { Animal, animals, NewPet, PetId, Pets, PetStatus } from './procedures/animals.ts';
export { createRecord, deleteRecord, getRecord, listRecords, updateRecord } from './procedures/records.ts';
export { appRouter, type AppRouter } from './router.ts';
export type { Context } from './trpc.ts';
export {
  type CollectionDefinition,
  defineCollection,
  type NewRecord,
  type RecordChange,
  type StoredRecord,
} from './store/collection.ts';
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
} from './store/store.ts';
export { StoreError, type StoreErrorCode } from './store/storeError.ts';
export { apiErrorSchema as ApiError } from 'trpc-gateway/procedures';
