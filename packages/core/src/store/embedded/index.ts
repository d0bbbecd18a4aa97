import { resolve } from 'node:path';
import type { CallOptions, CloseOptions, Store } from '../store.ts';
import { openAnimals } from './animals.ts';
import { closed, toReadError, toStoreError } from './errors.ts';
import { createGroupCommit } from './groupCommit.ts';
import { openKeys } from './keys.ts';
import { type DataFolder, openDataFolder } from './open.ts';
import type { EmbeddedStoreOptions } from './options.ts';
import { openReservations } from './reservations.ts';

export { type Backup, backupFolder, type BackupOptions } from './backup.ts';
export { type TableReport, type VerifiedTable, verifiedTables, verifyFolder } from './verify.ts';
export { checkFolder } from './dataFolder.ts';
export type { EmbeddedStoreOptions } from './options.ts';
export { openEmbeddedTransfer } from './transfer.ts';

/**
 * The store in a folder of this machine, on LMDB. Several processes of the machine may share the folder: what one of
 * them acknowledged all of them see. Ids ascend without gaps, over all processes. Reads are synchronous.
 * Not for a network file system, nor across PID namespaces (containers): LMDB's locks do not hold there.
 * @throws {StoreError} that says in one sentence what is wrong with the folder and what to do
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const dataDir = resolve(options.dataDir);
  try {
    const folder = await openDataFolder(dataDir, options.create ?? true, options.onFatal);
    try {
      return createStore(folder, options.maxReservations);
    } catch (error) {
      await folder.close();
      throw error;
    }
  } catch (error) {
    throw toStoreError(error, dataDir);
  }
}

function createStore(folder: DataFolder, maxReservations?: number): Store {
  const { root, path: dataDir, watch } = folder;
  const animals = openAnimals(folder);
  const keys = openKeys(folder);
  const reservations = openReservations(folder, maxReservations);
  const commits = createGroupCommit(folder);
  let closing: Promise<void> | undefined;

  function read<T>(action: () => T, call?: CallOptions): T {
    call?.signal?.throwIfAborted();
    if (closing !== undefined) throw closed(dataDir);
    const fatal = watch.fatal();
    if (fatal !== undefined) throw fatal;
    try {
      // lmdb keeps one snapshot for a turn of the event loop. A client may hear from another process that its animal was
      // stored, and ask this one within that turn. Costs 0.5 µs.
      root.resetReadTxn();
      return action();
    } catch (error) {
      throw watch.noted(toReadError(error, dataDir));
    }
  }

  async function write<T>(job: () => T, call?: CallOptions): Promise<T> {
    if (closing !== undefined) throw closed(dataDir);
    return commits.write(job, call?.signal);
  }

  return {
    create: (pet, call) => write(() => animals.insert(pet), call),
    createOnce: (pet, reservation, call) =>
      write(() => {
        const now = Date.now();
        const id = reservations.find(reservation, now);
        if (id !== undefined) return { animal: animals.existing(id), isReplay: true };
        const room = reservations.room(reservation, now);
        const animal = animals.insert(pet);
        reservations.add(reservation, animal.id, now, room);
        return { animal, isReplay: false };
      }, call),
    get: (id, call) => read(() => animals.get(id), call),
    list: (query, call) => read(() => animals.list(query), call),
    keys: {
      find: (hash, call) => read(() => keys.find(hash), call),
      add: (record) => write(() => keys.add(record)),
      addFirst: (record) => write(() => keys.addFirst(record)),
      list: () => read(() => keys.list()),
      revoke: (name, revokedAt) => write(() => keys.revoke(name, revokedAt)),
      touch: (hash, usedAt) => write(() => keys.touch(hash, usedAt)),
    },
    ready() {
      if (closing !== undefined) throw closed(dataDir);
      const fault = watch.check() ?? commits.fault();
      if (fault !== undefined) throw fault;
    },
    close({ deadlineMs }: CloseOptions = {}) {
      closing ??= commits.idle(deadlineMs).then(() => folder.close());
      return closing;
    },
  };
}
