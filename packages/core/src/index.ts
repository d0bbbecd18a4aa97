export { hashKey, issueKey, type IssuedKey } from './keys/apiKey.ts';
export {
  createKeyVerifier,
  type KeyIdentity,
  type KeyVerifier,
  type KeyVerifierOptions,
} from './keys/keyVerifier.ts';
export { appRouter, type AppRouter } from './router.ts';
export { Animal, ApiError, NewPet, PetId, Pets, PetStatus } from './schemas.ts';
export type { Context } from './trpc.ts';
export type {
  Awaitable,
  CallOptions,
  CloseOptions,
  Created,
  KeyRecord,
  KeyStore,
  ListQuery,
  Page,
  Reservation,
  Store,
} from './store/store.ts';
export { StoreError, type StoreErrorCode } from './store/storeError.ts';
