export { checkFolder } from './dataFolder.ts';
export { type Backup, backupFolder, type BackupOptions } from './maintenance/backup.ts';
export { type TableReport, verifiedTables, verifyFolder } from './maintenance/verify.ts';
export type { EmbeddedStoreOptions } from './open.ts';
export { openEmbeddedStore } from './store.ts';
