import { statSync } from 'node:fs';
import * as lmdb from 'lmdb';
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { transactSync } from './newestCommit.ts';
import { FolderError, prepareFile } from './sharedFolder.ts';

type Root = RootDatabase<Buffer, Uint8Array>;
type Options = Partial<RootDatabaseOptionsWithPath>;

/** An LMDB file. It is reopened at its last commit after MDB_PANIC, which an error on a meta page causes. */
export class LmdbFile<Tables> {
  readonly path: string;
  readonly #options: Options;
  readonly #openTables: (root: Root) => Tables;
  readonly #inode: number;
  #root: Root | undefined;
  #tables: Tables | undefined = undefined;
  #isClosed = false;

  /** @param openTables opens the tables of the file, in a write transaction. It must throw if LMDB cannot read them */
  constructor(path: string, options: Options, openTables: (root: Root) => Tables) {
    this.path = path;
    this.#options = options;
    this.#openTables = openTables;
    // lmdb 3.0.0, which exports no version, can end the process. The declarations lack the version.
    if ((lmdb as { readonly version?: unknown }).version === undefined) {
      throw new FolderError(
        `The folder of ${path} needs lmdb 3.1 or newer, found an older one. Run \`npm install lmdb\`.`,
      );
    }
    prepareFile(path);
    this.#inode = statSync(path).ino;
    this.#tables = this.#open();
  }

  /** The open tables. @throws if the file is closed, was removed or replaced, or cannot be opened again */
  get tables(): Tables {
    if (this.#isClosed) throw new Error(`The state in ${this.path} is closed.`);
    if (this.#tables !== undefined) return this.#tables;
    this.rejectReplaced();
    return (this.#tables = this.#open());
  }

  /** @throws if another file is at the path: processes that start later would not see what this process stores */
  rejectReplaced(): void {
    if (statSync(this.path, { throwIfNoEntry: false })?.ino === this.#inode) return;
    throw new Error(`The file ${this.path} was removed or replaced. Restart all processes of the service.`);
  }

  /** Closes the file if LMDB can no longer use it; `tables` then opens it again. No transaction may be pending. */
  async check(): Promise<void> {
    const root = this.#root;
    try {
      root?.resetReadTxn();
      root?.get(Buffer.alloc(1));
    } catch {
      this.#root = undefined;
      this.#tables = undefined;
      await root?.close();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#root?.close();
  }

  #open(): Tables {
    const root = open<Buffer, Uint8Array>({
      path: this.path,
      noSubdir: true,
      encoding: 'binary',
      keyEncoding: 'binary',
      // Useless with one transaction at a time, and in lmdb 3.5.6 a failed commit then rejects an internal promise.
      eventTurnBatching: false,
      ...this.#options,
    });
    this.#root = root;
    return transactSync(root, this.path, () => this.#openTables(root));
  }
}
