// Takes the place of `node:fs` in the modules of folders: what they import of it, on the disks of simulated processes.
import { runIn } from '../simulatedProcess.ts';
import { currentBootId, type Place, placeOf } from './mounts.ts';
import { fileError, type Inode } from './simulatedDisk.ts';

/** Not at each call: a call of the system takes longer than all else here. */
const uid = process.getuid?.();

function inodeOf({ disk, path }: Place): Inode {
  const inode = disk.find(path);
  if (inode === undefined) throw fileError('ENOENT', path);
  return inode;
}

export function statSync(path: string, { throwIfNoEntry = true } = {}) {
  const place = placeOf(path);
  const inode = throwIfNoEntry ? inodeOf(place) : place.disk.find(place.path);
  if (inode === undefined) return undefined;
  const { birthtimeMs, isFolder, mode, number } = inode;
  // There are no links.
  return { ino: number, mode, uid, birthtimeMs, isFile: () => !isFolder, isSymbolicLink: () => false };
}

export const lstatSync: typeof statSync = (path, options) => statSync(path, options);

export const existsSync = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

export function readdirSync(path: string): string[] {
  const place = placeOf(path);
  if (!inodeOf(place).isFolder) throw fileError('ENOTDIR', path);
  return place.disk.names(place.path);
}

export function mkdirSync(path: string, { mode }: { readonly mode: number }): void {
  const place = placeOf(path);
  rejectFull(place);
  place.disk.create(place.path, true, mode);
}

export function mkdtempSync(prefix: string): string {
  const path =
    prefix +
    placeOf(prefix)
      .disk.faults.random.below(36 ** 6)
      .toString(36)
      .padStart(6, '0');
  mkdirSync(path, { mode: 0o700 });
  return path;
}

export function readFileSync(path: string): string {
  if (path !== '/proc/sys/kernel/random/boot_id') throw new Error(`Reading ${path} is not simulated.`);
  return `${currentBootId()}\n`;
}

/** Files keep no bytes, so that it is the same whether it appends. */
export function writeFileSync(
  path: string,
  data: string | Uint8Array,
  { flush = false, mode }: { readonly flush?: boolean; readonly mode: number },
): void {
  const place = placeOf(path);
  const inode = place.disk.find(place.path) ?? place.disk.create(place.path, false, mode);
  if (inode.isFolder) throw fileError('EISDIR', path);
  if (data.length > 0) rejectFull(place);
  inode.isDurable ||= flush;
  inode.changed();
}

export function linkSync(path: string, to: string): void {
  const place = placeOf(path);
  place.disk.link(placeOf(to).path, inodeOf(place));
}

export function rmSync(path: string, { force = false, recursive = false } = {}): void {
  const place = placeOf(path);
  const inode = force ? place.disk.find(place.path) : inodeOf(place);
  if (inode?.isFolder && !recursive) throw fileError('EISDIR', path);
  place.disk.remove(place.path);
}

export const utimesSync = (path: string): void => inodeOf(placeOf(path)).changed();

/** The folders that are open to be synced, by their numbers. */
const openFolders = new Map<number, Place>();

export function openSync(path: string): number {
  const place = placeOf(path);
  const { number } = inodeOf(place);
  openFolders.set(number, place);
  return number;
}

export function fsyncSync(folder: number): void {
  const place = openFolders.get(folder);
  const code = place?.disk.faults.errorCode;
  if (code) throw fileError(code, 'fsync');
  place?.disk.syncEntries(place.path);
}

export function readSync(): never {
  throw new Error('Reading parts of files is not simulated.');
}

export function writeSync(): never {
  throw new Error('Writing parts of files is not simulated.');
}

export const closeSync = (folder: number): void => void openFolders.delete(folder);

/** Calls a listener in a later turn after changes of a file; once for those that are made until then. There are no errors. */
export function watch(path: string, _options: object, listener: () => void) {
  const place = placeOf(path);
  const { watchers } = inodeOf(place);
  let isDue = false;
  const change = () => {
    if (!isDue) runIn(place.process, () => setImmediate(report));
    isDue = true;
  };
  const report = () => {
    isDue = false;
    if (watchers.has(change)) listener();
  };
  watchers.add(change);
  place.process.whenKilled(() => watchers.delete(change));
  const watcher = { on: () => watcher, close: () => watchers.delete(change) };
  return watcher;
}

function rejectFull({ disk: { faults }, path }: Place): void {
  if (faults.full) throw fileError('ENOSPC', path);
}
