import type { Reservation, StoreOptions } from '../store.ts';

/**
 * Options of `openMongodbStore`. Without `create`, it creates no collection, and indexes only with `migrate`. Processes
 * count keys once a minute, so a caller may exceed `maxReservations` with concurrent calls or several processes.
 */
export interface MongodbStoreOptions extends StoreOptions {
  /** `mongodb://` or `mongodb+srv://`, with credentials if the deployment requires them. */
  readonly uri: string;
  /** Name of the database. Default: `petstore`. */
  readonly database?: string | undefined;
  /** Timeout of every operation, in milliseconds. A copy needs a longer one, such as a minute, for its batches. Default: 5000. */
  readonly operationTimeoutMs?: number | undefined;
  /** Maximum number of connections per server. Default: 32. */
  readonly maxPoolSize?: number | undefined;
  /** For tests only. `createOnce` awaits it between writing the reservation and writing the record. */
  readonly afterReservation?: ((reservation: Reservation) => Promise<void>) | undefined;
}
