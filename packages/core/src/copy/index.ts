export type { StoreTransfer } from '../store/transfer.ts';
export { type Copied, type CopyOptions, type CopyProgress, copyStore } from './copyStore.ts';
