import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Animal } from '../../schemas.ts';
import type { KeyRecord } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { fullAfter, isSameKey, type StoreTransfer } from '../transfer.ts';
import { openAnimals } from './animals.ts';
import { openCounter } from './counter.ts';
import { toReadError, toStoreError } from './errors.ts';
import { createGroupCommit } from './groupCommit.ts';
import type { EmbeddedStoreOptions } from './options.ts';
import { openKeys } from './keys.ts';
import { openDataFolder } from './open.ts';
import { openReservations } from './reservations.ts';

/** Opens a data folder for a copy. @throws {StoreError} */
export async function openEmbeddedTransfer(options: EmbeddedStoreOptions): Promise<StoreTransfer> {
  const dataDir = resolve(options.dataDir);
  const folder = await openDataFolder(dataDir, options.create ?? true).catch((error: unknown) => {
    throw toStoreError(error, dataDir);
  });
  const { root } = folder;
  const animals = openAnimals(folder);
  const keys = openKeys(folder);
  const reservations = openReservations(folder);
  const lastAnimalId = openCounter(folder, 'lastAnimalId');
  const { write, idle } = createGroupCommit(folder);

  async function read<T>(action: () => T): Promise<T> {
    try {
      root.resetReadTxn();
      return action();
    } catch (error) {
      throw toReadError(error, dataDir);
    }
  }

  /** Of those, the ones that are not there yet. */
  function missing(some: readonly Animal[]): Animal[] {
    return some.filter((animal) => {
      const stored = animals.get(animal.id);
      if (stored === undefined) return true;
      if (isDeepStrictEqual(stored, animal)) return false;
      throw new StoreError('conflict', `The data folder ${dataDir} has another animal ${animal.id}.`);
    });
  }

  function putKey(record: KeyRecord): void {
    const { hash, name, lastUsedAt, revokedAt } = record;
    if (!isSameKey(record, keys.find(hash))) {
      keys.add(record);
      return;
    }
    if (lastUsedAt !== undefined) keys.touch(hash, lastUsedAt);
    if (revokedAt !== undefined) keys.revoke(name, revokedAt);
  }

  return {
    isEmpty: () => read(() => lastAnimalId.last() === 0 && animals.count() === 0 && keys.list().length === 0),
    countAnimals: () => read(() => animals.count()),
    animals: (after, limit, maxBytes) => read(() => animals.batch(after, limit, fullAfter(maxBytes))),
    putAnimals: (some) => write(() => missing(some).forEach((animal) => animals.restore(animal))),
    keys: () => read(() => keys.list()),
    // One transaction each: what cannot be added must throw before it has written.
    putKeys: async (records) => {
      for (const record of records) await write(() => putKey(record));
    },
    reservations: (after, limit) => read(() => reservations.list(after, limit, Date.now())),
    putReservations: (some) => write(() => reservations.restore(some, Date.now())),
    lastAnimalId: () => read(() => lastAnimalId.last()),
    raiseLastAnimalId: (id) =>
      write(() => {
        if (id > lastAnimalId.last()) lastAnimalId.set(id);
      }),
    async close() {
      await idle();
      await folder.close();
    },
  };
}
