export type { CollectionTransfer, StoreTransfer } from '../store/transfer.ts';
export {
  type Copied,
  type CopiedCollection,
  type CopyOptions,
  type CopyProgress,
  copyStore,
} from './copyStore.ts';
