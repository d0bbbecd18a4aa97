import type { CollectionDefinition, StoreError } from '@petstore/core/store';

/** Options of `openEmbeddedStore`. */
export interface EmbeddedStoreOptions {
  /** Data folder. Created with mode 0700 if it does not exist. */
  readonly dataDir: string;
  /** Whether to create a store if the folder has none. Default: true. */
  readonly create?: boolean;
  /** Collections of the store. A folder with any other collection is rejected. */
  readonly collections: readonly CollectionDefinition[];
  /**
   * Whether to add collections and indexes that an earlier version did not have. Stop all processes of that version first:
   * they do not maintain a new index. If false, opening a folder without one of them fails with `migration-needed`.
   * Default: true.
   */
  readonly migrate?: boolean | undefined;
  /** Called with a sentence for each collection and index that was added to an existing store. */
  readonly onMigrated?: ((what: string) => void) | undefined;
  /**
   * Maximum number of idempotency keys per caller and day. They are counted per hour, so a key counts for up to 25 hours.
   * Default: 100,000.
   */
  readonly maxReservations?: number | undefined;
  /**
   * Called once with a StoreError `fatal` when this process can no longer use the folder: LMDB reported a fatal error, or a
   * file of the folder was removed or replaced. This is detected on the next call, or within half a second without calls.
   * All later calls fail with that error, so log it and end the process. The callback must not throw: a timer may call it,
   * and its error would be an uncaught exception.
   */
  readonly onFatal?: ((error: StoreError) => void) | undefined;
}
