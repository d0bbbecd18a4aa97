import type { CollectionDefinition } from '../collection.ts';
import type { Reservation } from '../store.ts';

/** Options of `openMongodbStore`. */
export interface MongodbStoreOptions {
  /** `mongodb://` or `mongodb+srv://`, with credentials if the deployment requires them. */
  readonly uri: string;
  /** Name of the database. Default: `petstore`. */
  readonly database?: string | undefined;
  /**
   * Whether to create a store if the database has none. If false, no collection is created, and indexes only with `migrate`.
   * Default: true.
   */
  readonly create?: boolean | undefined;
  /** Collections of the store. A database with any other collection is rejected. */
  readonly collections: readonly CollectionDefinition[];
  /**
   * Whether to add collections and indexes that an earlier version did not have. If false, all calls on a database without
   * one of the collections fail with `migration-needed`. Default: true.
   */
  readonly migrate?: boolean | undefined;
  /** Called with a sentence for each collection that was added to an existing store. */
  readonly onMigrated?: ((what: string) => void) | undefined;
  /** Timeout of every operation, in milliseconds. A copy needs a longer one, such as a minute, for its batches. Default: 5000. */
  readonly operationTimeoutMs?: number | undefined;
  /** Maximum number of connections per server. Default: 32. */
  readonly maxPoolSize?: number | undefined;
  /**
   * Maximum number of idempotency keys per caller and day. Each process counts them in the database once a minute, so a
   * caller may exceed the limit with concurrent calls or several processes. Default: 100,000.
   */
  readonly maxReservations?: number | undefined;
  /** For tests only. `createOnce` awaits it between writing the reservation and writing the record. */
  readonly afterReservation?: ((reservation: Reservation) => Promise<void>) | undefined;
}
