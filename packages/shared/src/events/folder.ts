import { hash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { createFileCommits } from '../lmdb/fileCommits.ts';
import { LmdbFile } from '../lmdb/lmdbFile.ts';
import { transactSync } from '../lmdb/newestCommit.ts';
import { openInFolder } from '../lmdb/sharedFolder.ts';
import { type ChannelPage, ChannelWatches, logClosed, readChannel } from './channelReader.ts';
import type { EventLog } from './eventLog.ts';
import {
  beginOpening,
  changedAfter,
  createSweep,
  type EventTables,
  hashName,
  newestOf,
  openEventTables,
  readPage,
  storeEvent,
} from './folderTables.ts';

export interface FolderEventLogOptions {
  /** A local folder that the processes share, created with mode 0700. It may be that of `folderState`. */
  readonly path: string;
}

/**
 * How often a process looks for events of others where it may not learn of each change, in milliseconds. On Linux it does, except on
 * Bun: its `fs.watch` leaves out a change within a few ms of another (1.4.5).
 */
const pollMs = 500;
/** How long after a change such a process looks for one that was left out, in milliseconds. */
const leftOutMs = 10;

/**
 * Opens an event log in a folder (LMDB) that is shared by the processes of one machine.
 *
 * - Events survive their processes: the death of any process, also by SIGKILL, loses none whose `append` has resolved.
 * - On Linux they do not survive the machine: after a reboot or a power failure the log is empty, and readers get a `resync`.
 *   No append waits for the disk. Elsewhere, each append is on disk before readers get it.
 * - A process with readers is woken by the file system (`fs.watch` on the LMDB file) at every commit of any process, with or
 *   without a supervisor, also if that process is killed right after its commit. On systems other than Linux, and on Bun, it also looks
 *   every 500 ms.
 * - While a process that is suspended (SIGSTOP) holds the lock of the file, appends of the others are rejected after 5 s. They
 *   are then never stored unless they had begun. Readers are not affected.
 * @throws {FolderError} if the folder cannot be opened
 */
export function folderEventLog({ path }: FolderEventLogOptions): EventLog {
  const folder = resolve(path);
  return openInFolder(folder, () => openLog(folder));
}

function openLog(folder: string): EventLog {
  const boot = bootId();
  const name = `events${boot ? `-${boot}` : ''}.mdb`;
  const path = join(folder, name);
  removeOthers(folder, name);
  const file = new LmdbFile<EventTables>(
    path,
    // Without `overlappingSync`, promises resolve when the commit is on disk; without sync, when other processes can read it.
    { noSync: boot !== undefined, overlappingSync: false, maxDbs: 4 },
    (root) => openEventTables(root, fileEpoch(path)),
  );
  transactSync(file.tables.root, path, () => beginOpening(file.tables, Date.now()));
  /** Makes all processes look for events. */
  function touch(): void {
    const now = new Date();
    utimesSync(path, now, now);
  }
  // Until that transaction, they may have seen the log as it was before the newest events.
  touch();
  const commits = createFileCommits(`The event log ${path}`, file, () => {
    file.rejectReplaced();
    // LMDB shows a commit to other processes just after it has written the file: some may have looked in between.
    touch();
    changes.look();
  });
  const watches = new ChannelWatches();
  const changes = watchChanges(file, watches);
  const sweep = createSweep();
  let isClosed = false;

  function readNow(key: string, after: number): ChannelPage {
    // lmdb keeps its view of the file for a turn of the event loop.
    file.tables.root.resetReadTxn();
    return readPage(file.tables, Buffer.from(key, 'latin1'), after);
  }

  function page(key: string, after: number): ChannelPage | Promise<ChannelPage> {
    file.rejectReplaced();
    try {
      return readNow(key, after);
    } catch {
      // After an error of the disk, LMDB may have to open the file again, as it does for a commit.
      return commits.write(() => {}).then(() => readNow(key, after));
    }
  }

  return {
    async append(channel, event, keep) {
      if (isClosed) throw logClosed();
      const hashed = hashName(channel);
      return commits.write((tables) => {
        const now = Date.now();
        sweep(tables, now);
        return storeEvent(tables, hashed, { event, keep, now });
      });
    },
    read: (channel, after, signal) =>
      readChannel({ page, watches }, hashName(channel).toString('latin1'), after, signal),
    async close() {
      if (isClosed) return;
      isClosed = true;
      changes.close();
      watches.close();
      await commits.close();
    },
  };
}

/** Wakes readers when their channels change, by any process. */
function watchChanges(file: LmdbFile<EventTables>, watches: ChannelWatches) {
  let seen = newestOf(file.tables);
  let isDue = false;

  function wakeReaders(): void {
    isDue = false;
    try {
      file.rejectReplaced();
      file.tables.root.resetReadTxn();
      const changed = changedAfter(file.tables, seen);
      seen = newestOf(file.tables);
      if (changed === undefined) watches.wakeAll();
      else for (const each of changed) watches.wake(each);
    } catch {
      // The readers meet the same error, and try again.
      watches.wakeAll();
    }
  }

  /** Wakes readers in the next turn of the event loop: a commit writes to the file several times. */
  function look(): void {
    if (!isDue) setImmediate(wakeReaders);
    isDue = true;
  }

  const learnsOfEach = process.platform === 'linux' && process.versions['bun'] === undefined;
  const onChange = () => {
    look();
    if (!learnsOfEach) setTimeout(look, leftOutMs).unref();
  };
  const watcher = watch(file.path, { persistent: false }, onChange).on('error', look);
  const poll = learnsOfEach ? undefined : setInterval(look, pollMs).unref();
  return {
    look,
    close() {
      watcher.close();
      clearInterval(poll);
    },
  };
}

/** Returns the id of this boot of the machine, without which it is not known whether the page cache was written; or `undefined`. */
function bootId(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Returns an epoch that no other file has, also not one that later takes its inode number. */
function fileEpoch(path: string): string {
  const { birthtimeMs, ino } = statSync(path);
  return hash('sha256', `${ino} ${birthtimeMs}`).slice(0, 12);
}

/** Removes the logs of earlier boots. */
function removeOthers(folder: string, name: string): void {
  for (const each of readdirSync(folder)) {
    if (/^events.*\.mdb(-lock)?$/.test(each) && !each.startsWith(name))
      rmSync(join(folder, each), { force: true });
  }
}
