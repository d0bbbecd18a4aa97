import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  batchLimit,
  type CollectionDefinition,
  type CollectionTransfer,
  isSameKey,
  type KeyRecord,
  recordConflict,
  type StoreTransfer,
} from '@petstore/core/store';
import { Records } from '../collection.ts';
import { toReadError } from '../errors.ts';
import { createGroupCommit } from '../groupCommit.ts';
import { openKeys } from '../keys.ts';
import { openDataFolder } from '../open.ts';
import type { EmbeddedStoreOptions } from '../options.ts';
import { openReservations } from '../reservations.ts';

/** Opens a data folder for a copy. @throws {StoreError} if it cannot be opened */
export async function openEmbeddedTransfer(options: EmbeddedStoreOptions): Promise<StoreTransfer> {
  const dataDir = resolve(options.dataDir);
  const folder = await openDataFolder(dataDir, options);
  const { root } = folder;
  const keys = openKeys(folder);
  const reservations = openReservations(folder);
  const { write, idle } = createGroupCommit(folder);

  async function read<T>(action: () => T): Promise<T> {
    try {
      root.resetReadTxn();
      return action();
    } catch (error) {
      throw toReadError(error, dataDir);
    }
  }

  function openTransfer(definition: CollectionDefinition): CollectionTransfer {
    const collection = new Records(folder, definition);
    return {
      definition,
      count: () => read(() => collection.count()),
      records: (after, limit, maxBytes) => read(() => collection.batch(after, limit, batchLimit(maxBytes))),
      put: (incoming) =>
        write(() => {
          const missing = incoming.filter((record) => {
            const stored = collection.get(record.id);
            if (stored === undefined) return true;
            if (isDeepStrictEqual(stored, record)) return false;
            throw recordConflict(definition, record.id);
          });
          for (const record of missing) collection.restore(record);
          return missing.length;
        }),
      lastId: () => read(() => collection.lastId()),
      raiseLastId: (id) => write(() => collection.raiseLastId(id)),
    };
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
    collections: options.collections.map(openTransfer),
    keys: () => read(() => keys.list()),
    // One transaction per key: a job must throw before it writes, and a conflict may come after the first key.
    putKeys: async (incoming) => {
      for (const record of incoming) await write(() => putKey(record));
    },
    reservations: (after, limit) => read(() => reservations.list(after, limit, Date.now())),
    putReservations: (incoming) => write(() => reservations.restore(incoming, Date.now())),
    async close() {
      await idle();
      await folder.close();
    },
  };
}
