export type { CollectionTransfer, StoreTransfer } from '../store/transfer.ts';
export {
  type CopyResult,
  type CopiedCollection,
  type CopyOptions,
  type CopyProgress,
  copyStore,
} from './copyStore.ts';
