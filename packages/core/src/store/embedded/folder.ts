import type { Database, RootDatabase } from 'lmdb';
import type { IndexKind } from '../collection.ts';
import type { Decoded } from '../rowCodec.ts';
import type { FolderWatch } from './folderWatch.ts';

/** The collections that a folder holds, and the indexes of each: what the code must know to open it. */
export type Layout = Readonly<Record<string, Readonly<Record<string, IndexKind>>>>;

/** Facts about the folder as a whole: its format, its layout, and its counters. */
export type MetaTable = Database<Decoded<number | Layout>, string>;

/** A data folder that is open. */
export interface DataFolder {
  /** For messages. */
  readonly path: string;
  readonly root: RootDatabase;
  readonly meta: MetaTable;
  readonly watch: FolderWatch;
  close(): Promise<void>;
}
