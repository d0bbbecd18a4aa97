import type { Random } from '@petstore/testing/random';
import type { SimulatedProcess } from '../simulatedProcess.ts';
import { DiskFaults, systemError } from './diskFaults.ts';
import { LmdbContent } from './lmdbContent.ts';
import type { Content } from './rows.ts';

/** A file or folder. Of a file only what LMDB stores is kept. */
export class Inode {
  readonly number: number;
  readonly isFolder: boolean;
  readonly mode: number;
  readonly birthtimeMs: number;
  readonly lmdb: LmdbContent;
  readonly watchers = new Set<() => void>();
  /** Whether it is there after a crash. */
  isDurable = false;
  links = 0;
  /** By how many processes it is open. */
  opens = 0;

  constructor(number: number, isFolder: boolean, mode: number, birthtimeMs: number, faults: DiskFaults) {
    this.number = number;
    this.isFolder = isFolder;
    this.mode = mode;
    this.birthtimeMs = birthtimeMs;
    this.lmdb = new LmdbContent(faults, (isSynced) => {
      // Ext4, XFS and Btrfs make the entry of a new file durable with its first sync.
      this.isDurable ||= isSynced;
      this.changed();
    });
  }

  /** Calls the watchers. */
  changed(): void {
    for (const watcher of this.watchers) watcher();
  }
}

/** The disk of a machine whose processes share it: their paths are those of the disk after the name of the process. */
export class SimulatedDisk {
  readonly faults: DiskFaults;
  readonly #processes = new Set<SimulatedProcess>();
  readonly #inodes = new Map<string, Inode>();
  readonly #freeNumbers = new Set<number>();
  /** Whether new files get the numbers of removed ones, the lowest first, as on ext4. */
  readonly #reusesNumbers: boolean;
  #lastNumber = 1;
  #lastBirth = 0;
  /** The id of this boot of the machine: a UUID. */
  bootId: string;

  constructor(random: Random) {
    this.faults = new DiskFaults(random);
    this.#reusesNumbers = random.chance(0.5);
    this.bootId = newBootId(random);
    this.create('/', true, 0o755).isDurable = true;
  }

  add(process: SimulatedProcess): void {
    this.#processes.add(process);
    process.whenKilled(() => this.#processes.delete(process));
  }

  /** Kills all processes of the machine, and loses what was not synced. New files and folders may be lost or not. */
  crash(): void {
    const { random } = this.faults;
    for (const process of Array.from(this.#processes)) process.kill();
    for (const [path, inode] of Array.from(this.#inodes)) {
      if (!inode.isDurable && random.chance(0.5)) this.remove(path);
      else {
        inode.isDurable = true;
        inode.lmdb.crash();
      }
    }
    this.bootId = newBootId(random);
  }

  find(path: string): Inode | undefined {
    return this.#inodes.get(path);
  }

  names(folder: string): string[] {
    const start = folder === '/' ? 1 : folder.length + 1;
    return Array.from(this.#inodes.keys()).flatMap((path) =>
      path.length > start && parentOf(path) === folder ? [path.slice(start)] : [],
    );
  }

  create(path: string, isFolder: boolean, mode: number): Inode {
    const isReused = this.#reusesNumbers && this.#freeNumbers.size > 0;
    const number = isReused ? Math.min(...this.#freeNumbers) : (this.#lastNumber += 1);
    this.#freeNumbers.delete(number);
    // The clock of a disk is finer than that of a test: a removed file and the next one are not of the same moment.
    this.#lastBirth = Math.max(Date.now(), this.#lastBirth + 1 / 1024);
    return this.link(path, new Inode(number, isFolder, mode, this.#lastBirth, this.faults));
  }

  /** Adds an entry. @throws ENOENT, ENOTDIR or EEXIST, as the system does */
  link(path: string, inode: Inode): Inode {
    const parent = this.#inodes.get(parentOf(path));
    if (path !== '/' && parent === undefined) throw fileError('ENOENT', path);
    if (parent?.isFolder === false) throw fileError('ENOTDIR', path);
    if (this.#inodes.has(path)) throw fileError('EEXIST', path);
    inode.links += 1;
    this.#inodes.set(path, inode);
    return inode;
  }

  /** Removes a file, or a folder with all that is in it. Processes that have a file open can still use it. */
  remove(path: string): void {
    for (const [each, inode] of Array.from(this.#inodes)) {
      if (each !== path && !each.startsWith(`${path}/`)) continue;
      this.#inodes.delete(each);
      inode.links -= 1;
      inode.changed();
      this.#freeUnused(inode);
    }
  }

  /** Makes the entries of a folder durable, as `fsync` does. */
  syncEntries(folder: string): void {
    for (const [path, inode] of this.#inodes) inode.isDurable ||= parentOf(path) === folder;
  }

  /** Opens a file for a process: its number is not used again until it is closed. @returns a function that closes it */
  open(inode: Inode, process: SimulatedProcess): () => void {
    inode.opens += 1;
    const close = () => {
      stopWaiting();
      inode.opens -= 1;
      this.#freeUnused(inode);
    };
    const stopWaiting = process.whenKilled(close);
    return () => process.isAlive && close();
  }

  /** Copies the LMDB files of a folder, for `restore`. */
  backUp(folder: string): ReadonlyMap<string, Content> {
    const files = Array.from(this.#inodes).filter(([path]) => path.startsWith(`${folder}/`));
    return new Map(files.map(([path, inode]) => [path, inode.lmdb.committed]));
  }

  /** Writes copies over the files from which they were made. No process may have those open. */
  restore(copies: ReadonlyMap<string, Content>): void {
    for (const [path, content] of copies) {
      const inode = this.#inodes.get(path) ?? this.create(path, false, 0o600);
      if (inode.opens > 0)
        throw new Error(`${path} is open: LMDB does not survive a copy over an open file.`);
      inode.lmdb.replace(content);
      inode.isDurable = true;
      inode.changed();
    }
  }

  #freeUnused(inode: Inode): void {
    if (inode.links === 0 && inode.opens === 0) this.#freeNumbers.add(inode.number);
  }
}

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 1));

const newBootId = (random: Random): string =>
  'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', () => random.below(16).toString(16));

export const fileError = (code: string, path: string): Error => systemError(code, `${code}: '${path}'`);
