import type { CollectionDefinition } from '../collection.ts';
import type { StoreError } from '../storeError.ts';

export interface EmbeddedStoreOptions {
  /** The folder that holds the data. It is made, with mode 0700, where it is missing. */
  readonly dataDir: string;
  /** Whether a folder without a store gets one. Default: true. */
  readonly create?: boolean;
  /** What the store keeps. Default: the collections of the pet store. A folder with any other is an error. */
  readonly collections?: readonly CollectionDefinition[] | undefined;
  /**
   * Whether a folder of an earlier version is brought up to date. Default: true. Otherwise it is `migration-needed`.
   * Every process of the earlier version must have ended.
   */
  readonly migrate?: boolean | undefined;
  /** Called with a sentence for each step that brought the folder up to date. */
  readonly onMigrated?: ((what: string) => void) | undefined;
  /**
   * How many idempotency keys one caller may use within a day. Default: 100,000. They are counted by the hour, so a key
   * counts for up to 25 hours.
   */
  readonly maxReservations?: number | undefined;
  /**
   * Called once, with a StoreError `fatal`, when this process can no longer use the folder: LMDB reported a fatal error,
   * or a file of the folder was removed or replaced. It is found at the next call, and within half a second without
   * one. Every call fails with that error from then on, so the process should log it and end. It must not throw:
   * a timer may call it, and what it throws is an uncaught exception.
   */
  readonly onFatal?: ((error: StoreError) => void) | undefined;
}
