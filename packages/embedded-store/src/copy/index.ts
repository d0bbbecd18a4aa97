export type { CollectionTransfer, CopyableStore, StoreTransfer } from '@petstore/core/store';
export {
  type CopyResult,
  type CopiedCollection,
  type CopyOptions,
  type CopyProgress,
  copyStore,
  isEmptyStore,
} from './copyStore.ts';
