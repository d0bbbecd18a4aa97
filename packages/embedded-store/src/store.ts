import { resolve } from 'node:path';
import {
  buildRecord,
  type Collection,
  type CollectionDefinition,
  type CopyableStore,
  expectedVersion,
  fingerprint,
  indexedCondition,
  type KeyStore,
  openedCollections,
  type StoredRecord,
} from '@petstore/core/store';
import { type Access, openAccess } from './access.ts';
import { Records } from './collection.ts';
import { toStoreError } from './errors.ts';
import type { DataFolder } from './folder.ts';
import { openKeys } from './keys.ts';
import { type EmbeddedStoreOptions, openDataFolder } from './open.ts';
import { openReservations } from './reservations.ts';
import { createTransfer } from './transfer.ts';

/**
 * Opens the store in a local folder, based on LMDB. Several processes of one machine may share the folder, and all of them
 * see every acknowledged write. Ids ascend without gaps across all processes. Reads are synchronous.
 * Do not use it on a network file system or across PID namespaces (containers): LMDB's locks do not work there.
 * @throws {StoreError} with a message that names the problem of the folder and the fix
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<CopyableStore> {
  const folder = await openDataFolder(resolve(options.dataDir), options);
  try {
    return createStore(folder, options.collections, options.maxReservations);
  } catch (error) {
    await folder.close();
    throw toStoreError(error, folder.path);
  }
}

function createStore(
  folder: DataFolder,
  definitions: readonly CollectionDefinition[],
  maxReservations?: number,
): CopyableStore {
  const access = openAccess(folder);
  const reservations = openReservations(folder, maxReservations);
  return {
    collection: openedCollections(definitions, (definition) =>
      createCollection(new Records(folder, definition), definition, reservations, access),
    ),
    keys: createKeyStore(openKeys(folder), access),
    transfer: () => createTransfer(folder, definitions, reservations, access),
    ready: access.ready,
    close: access.close,
  };
}

function createCollection<Stored extends StoredRecord, Indexed extends string>(
  records: Records<Stored, Indexed>,
  definition: CollectionDefinition<Stored, Indexed>,
  reservations: ReturnType<typeof openReservations>,
  { read, write }: Access,
): Collection<Stored, Indexed> {
  const { name } = definition;
  return {
    create: (values, callOptions) => write(() => records.insert(values), callOptions),
    createOnce: (values, reservation, callOptions) =>
      write(() => {
        const now = Date.now();
        const input = { collection: name, fingerprint: fingerprint(definition, values) };
        const id = reservations.find(reservation, input, now);
        // The fingerprint ensures that a retry has the values of the first call.
        if (id !== undefined) return { record: buildRecord(definition, id, values), isReplay: true };
        const callerRow = reservations.checkLimit(reservation, now);
        const record = records.insert(values);
        reservations.add(reservation, { ...input, recordId: record.id }, now, callerRow);
        return { record, isReplay: false };
      }, callOptions),
    get: (id) => read(() => records.get(id)),
    list(query) {
      // Outside `read`, which reports errors as those of the data folder.
      const condition = indexedCondition(definition, query.where);
      return read(() => records.list(query, condition));
    },
    async update(id, change, callOptions) {
      const ifVersion = expectedVersion(definition, callOptions);
      return write(() => records.update(id, change, ifVersion), callOptions);
    },
    async delete(id, callOptions) {
      const ifVersion = expectedVersion(definition, callOptions);
      return write(() => records.remove(id, ifVersion), callOptions);
    },
  };
}

const createKeyStore = (keys: ReturnType<typeof openKeys>, { read, write }: Access): KeyStore => ({
  find: (hash) => read(() => keys.find(hash)),
  add: (record) => write(() => keys.add(record)),
  addFirst: (record) => write(() => keys.addFirst(record)),
  list: () => read(() => keys.list()),
  revoke: (name, revokedAt) => write(() => keys.revoke(name, revokedAt)),
  touch: (hash, usedAt) => write(() => keys.touch(hash, usedAt)),
});
