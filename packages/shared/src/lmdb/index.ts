// What is used to keep data of one's own in LMDB beside that of this package, as `@petstore/embedded-store` does.
export { type CommitFile, type CommitTimeout, GroupCommit } from './groupCommit.ts';
export { newestOffset, transact, transactSync } from './newestCommit.ts';
export {
  createLockFile,
  FolderError,
  makeFolder,
  rejectLink,
  rejectWritableByOthers,
  syncFolder,
} from './sharedFolder.ts';
