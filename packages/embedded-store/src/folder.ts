import type { Database, RootDatabase } from 'lmdb';
import type { IndexKind } from '@petstore/core/store';
import type { FolderWatch } from './folderWatch.ts';
import type { Decoded } from './rows.ts';

/** The collections of a folder and their indexes. Code that opens the folder must know them. */
export type Layout = Readonly<Record<string, Readonly<Record<string, IndexKind>>>>;

/** Table with the folder's format, its layout and its counters. */
export type MetaTable = Database<Decoded<number | Layout>, string>;

/** An open data folder. */
export interface DataFolder {
  /** For messages. */
  readonly path: string;
  /** Path of its LMDB file. */
  readonly file: string;
  readonly root: RootDatabase;
  readonly meta: MetaTable;
  readonly watch: FolderWatch;
  close(): Promise<void>;
}
