import {
  type CollectionDefinition,
  indexedCondition,
  type StoredRecord,
  uniqueFields,
} from '../collection.ts';
import { applyChange, buildRecord, checkVersion } from '../record.ts';
import type { Collection, Created, KeyRecord, KeyStore, Store } from '../store.ts';
import { StoreError } from '../storeError.ts';

/** A store without files or a database, for tests of what calls a store, and for runtimes without a disk. It reads synchronously, as the embedded store does. */
export function memoryStore(): Store {
  const created = new Map<unknown, unknown>();
  return {
    keys: memoryKeys(),
    collection<Stored extends StoredRecord, Indexed extends string>(
      definition: CollectionDefinition<Stored, Indexed>,
    ) {
      if (!created.has(definition)) created.set(definition, memoryCollection(definition));
      // The collection was created from this definition.
      return created.get(definition) as Collection<Stored, Indexed>;
    },
    ready: () => {},
    close: async () => {},
  };
}

function memoryKeys(): KeyStore {
  const records = new Map<string, KeyRecord>();
  const add = (record: KeyRecord) => void records.set(record.hash, record);
  return {
    find: (hash) => records.get(hash),
    add: async (record) => add(record),
    async addFirst(record) {
      if (records.size === 0) add(record);
      return records.keys().next().value === record.hash;
    },
    list: () => Array.from(records.values()),
    async revoke(name, revokedAt) {
      const record = Array.from(records.values()).find((each) => each.name === name);
      if (record !== undefined) add({ ...record, revokedAt });
      return record && records.get(record.hash);
    },
    async touch(hash, lastUsedAt) {
      const record = records.get(hash);
      if (record !== undefined) add({ ...record, lastUsedAt });
    },
  };
}

function memoryCollection<Stored extends StoredRecord, Indexed extends string>(
  definition: CollectionDefinition<Stored, Indexed>,
): Collection<Stored, Indexed> {
  const records = new Map<number, Stored>();
  const reservations = new Map<string, { readonly values: string; readonly record: Stored }>();
  const uniques = uniqueFields(definition);
  let lastId = 0;

  function put(record: Stored): Stored {
    const isDuplicate = (other: Stored, field: string) =>
      other.id !== record.id && Reflect.get(other, field) === (Reflect.get(record, field) ?? NaN);
    if (Array.from(records.values()).some((other) => uniques.some((field) => isDuplicate(other, field)))) {
      throw new StoreError('conflict', 'Another record has the same value.');
    }
    records.set(record.id, record);
    return record;
  }

  const collection: Collection<Stored, Indexed> = {
    async create(values) {
      const record = put(buildRecord<Stored>(definition, lastId + 1, values));
      lastId = record.id;
      return record;
    },
    async createOnce(values, { caller, key }): Promise<Created<Stored>> {
      const earlier = reservations.get(`${caller} ${key}`);
      const text = JSON.stringify(values);
      if (earlier !== undefined) {
        if (earlier.values === text) return { record: earlier.record, isReplay: true };
        throw new StoreError('key-reused', 'The key was used with other values.');
      }
      const record = await collection.create(values);
      reservations.set(`${caller} ${key}`, { values: text, record });
      return { record, isReplay: false };
    },
    get: (id) => records.get(id),
    list({ limit, cursor = 0, where }) {
      const condition = indexedCondition(definition, where);
      const matches = Array.from(records.values()).filter(
        (record) =>
          record.id > cursor &&
          (condition === undefined || Reflect.get(record, condition.field) === condition.value),
      );
      return { records: matches.slice(0, limit), hasNext: matches.length > limit };
    },
    async update(id, change, options) {
      const record = records.get(id);
      if (record === undefined) return undefined;
      checkVersion(definition, record, options?.ifVersion);
      return put(applyChange<Stored>(definition, record, change));
    },
    async delete(id, options) {
      const record = records.get(id);
      if (record !== undefined) checkVersion(definition, record, options?.ifVersion);
      return records.delete(id);
    },
  };
  return collection;
}
