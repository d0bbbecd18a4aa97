// Takes the place of `lmdb` 3.5.6 in the modules of folders: what they use of it, on the disks of the simulated processes.
import type { Random } from '@petstore/testing/random';
import type { SimulatedProcess } from '../simulatedProcess.ts';
import { systemError } from './diskFaults.ts';
import type { LmdbContent, Writer } from './lmdbContent.ts';
import { type Content, type Draft, Rows } from './rows.ts';
import { type Place, placeOf } from './mounts.ts';

export const version = { major: 3, minor: 5, patch: 6 };

interface TableOptions {
  readonly encoding: 'binary' | 'json';
  readonly keyEncoding: 'binary';
}

interface RootOptions extends TableOptions {
  readonly path: string;
  readonly noSubdir: true;
  readonly overlappingSync?: boolean;
  readonly noSync?: boolean;
}

interface RangeOptions {
  readonly start?: Uint8Array;
  readonly end?: Uint8Array;
  readonly limit?: number;
  readonly exclusiveStart?: boolean;
}

/** How long lmdb keeps the snapshot of a read at most, in milliseconds: until a timer fires in a busy event loop. */
const snapshotMs = 5;

/** Opens the LMDB file of a simulated process. @throws if the options are not simulated */
export function open(options: RootOptions): Root {
  const { noSync = false, overlappingSync, path } = options;
  if (!noSync && overlappingSync !== false) throw new Error('overlappingSync is not simulated.');
  return new Root(new Env(placeOf(path), noSync), options);
}

/** The handle of a process of an LMDB file. */
class Env implements Writer {
  readonly process: SimulatedProcess;
  readonly noSync: boolean;
  readonly file: LmdbContent;
  draft: Draft | undefined = undefined;
  isPanicked = false;
  isClosed = false;
  #snapshot: Content | undefined = undefined;
  #snapshotUntil = 0;
  readonly #random: Random;
  readonly #close: () => void;

  constructor({ disk, path, process }: Place, noSync: boolean) {
    const inode = disk.find(path) ?? disk.create(path, false, 0o644);
    this.process = process;
    this.noSync = noSync;
    this.file = inode.lmdb;
    this.#random = disk.faults.random;
    this.#close = disk.open(inode, process);
  }

  /** What a read sees: the content of the running transaction, or a snapshot. */
  get content(): Content {
    if (this.draft !== undefined) return this.draft.content;
    this.check();
    const now = performance.now();
    if (this.#snapshot === undefined || now >= this.#snapshotUntil) {
      this.#snapshot = this.file.visible;
      this.#snapshotUntil = now + this.#random.from(1, snapshotMs);
    }
    return this.#snapshot;
  }

  /** @throws if the file cannot be used */
  check(): void {
    if (!this.process.isAlive) throw new Error(`The process ${this.process.name} was killed.`);
    if (this.isClosed) throw databaseClosed();
    if (this.isPanicked)
      throw systemError(-30_795, 'MDB_PANIC: Update of meta page failed or environment had fatal error');
  }

  readonly resetReadTxn = (): void => {
    this.#snapshot = undefined;
  };

  transactNow<T>(run: (draft: Draft) => T): T {
    this.check();
    return this.file.transactNow(this, run);
  }

  /** Changes the content in the running transaction, or in one of its own. */
  change<T>(action: (draft: Draft) => T): T {
    return this.draft === undefined ? this.transactNow(action) : action(this.draft);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#close();
  }
}

const databaseClosed = () => new Error('The database has been closed and you can not transact on it');

const noRows = new Rows();

class Table {
  readonly #env: Env;
  readonly #name: string;
  readonly #encoding: TableOptions['encoding'];

  constructor(env: Env, name: string, { encoding, keyEncoding }: TableOptions) {
    if (keyEncoding !== 'binary' || !['binary', 'json'].includes(encoding))
      throw new Error(`The encodings ${keyEncoding} and ${encoding} are not simulated.`);
    this.#env = env;
    this.#name = name;
    this.#encoding = encoding;
  }

  get(key: Uint8Array): unknown {
    const value = this.#rows.get(textOf(key));
    return value && this.#decode(value);
  }

  getRange(options: RangeOptions = {}): readonly { readonly key: Buffer; readonly value: unknown }[] {
    const { end, exclusiveStart = false, limit = Infinity, start } = options;
    const { keys, values } = this.#rows;
    let from = start === undefined ? 0 : this.#rows.indexOf(textOf(start));
    if (exclusiveStart && start && keys[from] === textOf(start)) from += 1;
    const to = end === undefined ? keys.length : this.#rows.indexOf(textOf(end));
    return keys.slice(from, Math.min(to, from + limit)).map((key, at) => {
      const value = this.#decode(values[from + at] as Buffer);
      return { key: Buffer.from(key, 'latin1'), value };
    });
  }

  getKeys(options: RangeOptions = {}): readonly Buffer[] {
    return this.getRange(options).map(({ key }) => key);
  }

  putSync(key: Uint8Array, value: unknown): true {
    // A copy: the caller may change its buffer.
    const bytes =
      this.#encoding === 'json' ? Buffer.from(JSON.stringify(value)) : Buffer.from(value as Uint8Array);
    this.#env.change((draft) => draft.change(this.#name).put(textOf(key), bytes));
    return true;
  }

  removeSync(key: Uint8Array): boolean {
    const text = textOf(key);
    const remove = (draft: Draft) =>
      this.#rows.get(text) !== undefined && draft.change(this.#name).remove(text);
    return this.#env.change(remove);
  }

  clearSync(): void {
    this.#env.change((draft) => draft.clear(this.#name));
  }

  get #rows(): Rows {
    return this.#env.content.get(this.#name) ?? noRows;
  }

  #decode(value: Buffer): unknown {
    return this.#encoding === 'json' ? JSON.parse(value.toString()) : Buffer.from(value);
  }
}

/** An open LMDB file, and its root table. */
class Root extends Table {
  readonly #env: Env;
  #last: Promise<unknown> = Promise.resolve();

  constructor(env: Env, options: RootOptions) {
    super(env, '', options);
    this.#env = env;
  }

  openDB(name: string, options: TableOptions): Table {
    this.#env.resetReadTxn();
    // Another process may have created it after the commit that can be read.
    if (!this.#env.content.has(name))
      this.#env.change((draft) => draft.content.has(name) || draft.clear(name));
    return new Table(this.#env, name, options);
  }

  /** The one after `lastTxnId`: a process that opens the file sets nothing for others here. */
  getWriteTxnId(): number {
    return 1;
  }

  getStats() {
    return { lastTxnId: 0 };
  }

  transactionSync<T>(run: () => T): T {
    return this.#env.transactNow(run);
  }

  /** Never settles if LMDB cannot begin it, as after MDB_PANIC. */
  childTransaction(run: () => unknown): Promise<unknown> {
    if (this.#env.isClosed) throw databaseClosed();
    const done = this.#env.file.transact(this.#env, run);
    this.#last = done.catch(() => {});
    return done;
  }

  resetReadTxn(): void {
    this.#env.resetReadTxn();
  }

  /** Waits for the transactions of this process. */
  async close(): Promise<void> {
    await this.#last;
    this.#env.close();
  }
}

const textOf = (key: Uint8Array): string =>
  (Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.length)).toString('latin1');
