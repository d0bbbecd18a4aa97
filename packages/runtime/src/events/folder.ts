import { readdirSync, readFileSync, rmSync, statSync, watch, type FSWatcher } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GroupCommit } from '../state/groupCommit.ts';
import { LmdbFile } from '../state/lmdbFile.ts';
import { openInFolder } from '../state/stateFolder.ts';
import { type ChannelPage, ChannelWatches, logClosed, readChannel } from './channelReader.ts';
import type { EventLog } from './eventLog.ts';
import {
  changesAfter,
  createSweep,
  type EventTables,
  hashName,
  isRemembered,
  joinChannel,
  lastChange,
  openEventTables,
  readPage,
  storeEvent,
} from './folderTables.ts';

export interface FolderEventLogOptions {
  /**
   * A folder on a local disk that the processes share. It is created with mode 0700 if it does not exist, and may be the folder of
   * `folderState`.
   */
  readonly path: string;
}

/** How long an append waits, in milliseconds. */
const timeoutMs = 5000;

/** How long `close` waits for pending appends, in milliseconds. */
const closeTimeoutMs = 2000;

/** How often a process looks for events of others where the system may not report them, in milliseconds. Linux always does. */
const pollMs = 500;

/**
 * Opens an event log in a folder (LMDB) that is shared by the processes of one machine.
 *
 * - Events survive their processes: the death of any process, also by SIGKILL, loses none whose `append` has resolved.
 * - On Linux they do not survive the machine: after a reboot or a power failure the log is empty, and readers get a `resync`.
 *   No append waits for the disk. Elsewhere, each append is on disk before readers get it.
 * - A process with readers is woken by the file system (`fs.watch` on the LMDB file) at every commit of any process, with or
 *   without a supervisor, also if that process is killed right after its commit. Only where `fs.watch` fails, and on systems
 *   other than Linux, it also looks every 500 ms.
 * - While a process that is suspended (SIGSTOP) holds the lock of the file, appends of the others are rejected after 5 s. They
 *   are then never stored unless they had begun. Readers are not affected.
 * @throws {StartError} if the folder cannot be opened
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
    { noSync: boot !== undefined, overlappingSync: false, maxDbs: 3 },
    (root) => openEventTables(root, String(statSync(path).ino)),
  );
  const hangs = (ms: number) =>
    new Error(
      `The event log ${path} has not completed a write for ${ms / 1000} s: its disk hangs, or a process that shares it is suspended.`,
    );
  const commits = new GroupCommit(
    {
      check() {
        file.rejectReplaced();
        return file.check();
      },
      transact: (runJobs) => file.tables.root.childTransaction(runJobs),
    },
    { timeoutMs, limits: 'job', notStarted: () => hangs(timeoutMs) },
  );
  const watches = new ChannelWatches();
  const changes = watchChanges(file, watches);
  const sweep = createSweep();
  let isClosed = false;

  /** Makes the newest commit visible: lmdb keeps its view of the file for a turn of the event loop. */
  const refresh = () => file.tables.root.resetReadTxn();

  function page(key: string, after: number): ChannelPage | Promise<ChannelPage> {
    file.rejectReplaced();
    const hash = Buffer.from(key, 'latin1');
    if (after === Infinity) refresh();
    const isKnown = after < Infinity || isRemembered(file.tables, hash);
    const found = isKnown ? readPage(file.tables, hash, after) : undefined;
    if (found === undefined) return commits.write(() => joinChannel(file.tables, hash, after));
    if (found.last >= after || after === Infinity) return found;
    // Its client may have received the newest event from another process.
    refresh();
    return readPage(file.tables, hash, after) ?? found;
  }

  return {
    async append(channel, event, keep) {
      if (isClosed) throw logClosed();
      const hash = hashName(channel);
      const id = await commits.write(() => {
        const now = Date.now();
        sweep(file.tables, now);
        return storeEvent(file.tables, hash, { event, keep, now });
      });
      changes.look();
      return id;
    },
    read: (channel, after, signal) =>
      readChannel({ page, watches }, hashName(channel).toString('latin1'), after, signal),
    async close() {
      if (isClosed) return;
      isClosed = true;
      changes.close();
      watches.close();
      const isInTime = await Promise.race([
        commits.idle().then(() => true),
        sleep(closeTimeoutMs, false, { ref: false }),
      ]);
      if (!isInTime) throw hangs(closeTimeoutMs);
      await file.close();
    },
  };
}

/** Wakes readers when their channels change, by any process. */
function watchChanges(file: LmdbFile<EventTables>, watches: ChannelWatches) {
  let seen = lastChange(file.tables);
  let isDue = false;
  let poll: NodeJS.Timeout | undefined;

  function wakeReaders(): void {
    isDue = false;
    if (watches.isEmpty) return;
    try {
      file.rejectReplaced();
      file.tables.root.resetReadTxn();
      const changed = changesAfter(file.tables, seen);
      seen = changed ? seen + changed.length : lastChange(file.tables);
      if (changed === undefined) watches.wakeAll();
      else for (const hash of new Set(changed.map((each) => each.toString('latin1')))) watches.wake(hash);
    } catch {
      // The readers throw the same error.
      watches.wakeAll();
    }
  }

  /** Wakes readers in the next turn of the event loop: a commit writes to the file several times. */
  function look(): void {
    if (!isDue) setImmediate(wakeReaders);
    isDue = true;
  }

  const startPolling = () => {
    poll ??= setInterval(look, pollMs).unref();
  };
  const watcher = watchFile(file.path, look, startPolling);
  if (process.platform !== 'linux') startPolling();
  return {
    look,
    close() {
      watcher?.close();
      clearInterval(poll);
    },
  };
}

/** Watches a file. `onError` is called if the system cannot, such as for lack of inotify watches. */
function watchFile(path: string, onChange: () => void, onError: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, onChange).on('error', onError);
  } catch {
    onError();
    return undefined;
  }
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

/** Removes the logs of earlier boots. */
function removeOthers(folder: string, name: string): void {
  for (const each of readdirSync(folder)) {
    if (/^events.*\.mdb(-lock)?$/.test(each) && !each.startsWith(name))
      rmSync(join(folder, each), { force: true });
  }
}
