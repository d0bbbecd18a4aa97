import type { CollectionDefinition } from '../collection.ts';
import type { Reservation } from '../store.ts';

/** Options of `openMongodbStore` and `openMongodbTransfer`. */
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
  /** Collections of the store. Default: those of the pet store. A database with any other collection is rejected. */
  readonly collections?: readonly CollectionDefinition[] | undefined;
  /**
   * Whether to migrate a database of an earlier version. Stop all processes of that version first. If false, all calls on
   * such a database fail with `migration-needed`. Default: true.
   */
  readonly migrate?: boolean | undefined;
  /** Called with a sentence for each change of a migration. */
  readonly onMigrated?: ((what: string) => void) | undefined;
  /** Timeout of every operation, in milliseconds. Default: 5000. */
  readonly operationTimeoutMs?: number | undefined;
  /** Maximum number of connections per server. Default: 32. */
  readonly maxPoolSize?: number | undefined;
  /** Maximum number of operations that wait for a connection. Further ones fail immediately with `unavailable`. Default: 1024. */
  readonly maxWaiting?: number | undefined;
  /**
   * Maximum number of idempotency keys per caller and day. Each process counts them in the database once a minute, so a
   * caller may exceed the limit with concurrent calls or several processes. Default: 100,000.
   */
  readonly maxReservations?: number | undefined;
  /** For tests only. `createOnce` awaits it between writing the reservation and writing the record. */
  readonly afterReservation?: ((reservation: Reservation) => Promise<void>) | undefined;
}
