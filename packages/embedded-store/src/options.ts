import type { StoreError, StoreOptions } from '@petstore/core/store';

/** Options of the store. Before it migrates, stop all earlier versions: they do not maintain a new index. */
export interface EmbeddedStoreOptions extends StoreOptions {
  /** Data folder. Created with mode 0700 if it does not exist. */
  readonly dataDir: string;
  /**
   * Called once with a StoreError `fatal` when this process can no longer use the folder: LMDB reported a fatal error, or a
   * file of the folder was removed or replaced. This is detected on the next call, or within half a second without calls.
   * All later calls fail with that error, so log it and end the process. The callback must not throw: a timer may call it,
   * and its error would be an uncaught exception.
   */
  readonly onFatal?: ((error: StoreError) => void) | undefined;
}
