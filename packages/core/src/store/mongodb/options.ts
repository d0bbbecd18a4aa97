import type { CollectionDefinition } from '../collection.ts';
import type { Reservation } from '../store.ts';

export interface MongodbStoreOptions {
  /** `mongodb://` or `mongodb+srv://`, with credentials where the deployment asks for them. */
  readonly uri: string;
  /** Default: `petstore`. */
  readonly database?: string | undefined;
  /** Whether a database without a store gets one. Default: true. Without it no collection and no index is made. */
  readonly create?: boolean | undefined;
  /** What the store keeps. Default: the collections of the pet store. A database with any other is an error. */
  readonly collections?: readonly CollectionDefinition[] | undefined;
  /**
   * Whether a database of an earlier version is brought up to date. Default: true. Otherwise every call fails with
   * `migration-needed`. Every process of the earlier version must have ended.
   */
  readonly migrate?: boolean | undefined;
  /** Called with a sentence for each step that brought the database up to date. */
  readonly onMigrated?: ((what: string) => void) | undefined;
  /** The bound of every operation, in milliseconds. Default: 5000. */
  readonly operationTimeoutMs?: number | undefined;
  /** Connections to each server of the deployment. Default: 32. */
  readonly maxPoolSize?: number | undefined;
  /** How many operations may wait for a connection; one more fails as `unavailable` at once. Default: 1024. */
  readonly maxWaiting?: number | undefined;
  /**
   * How many idempotency keys one caller may use within a day. Default: 100,000. A process counts them in the database
   * once a minute, so a caller that writes through several processes, or at once, may get more.
   */
  readonly maxReservations?: number | undefined;
  /** For tests alone: a create that must happen once waits for it between its reservation and its write. */
  readonly afterReservation?: ((reservation: Reservation) => Promise<void>) | undefined;
}
