import type { Collection } from 'mongodb';
import type { KeyRecord } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { isDuplicate, type DatabaseLabel, storeError } from './errors.ts';
import type { StoreOperation } from './operation.ts';
import { decodeKey, encodeKey, type KeyRow } from './rows.ts';

/** Opens keys: hash, name and number are unique; numbers are the order. Inserting number 1 claims the first key. */
export function openKeys(rows: Collection<KeyRow>, label: DatabaseLabel) {
  function checked(row: KeyRow): KeyRecord {
    const record = decodeKey(row);
    if (record === null) throw storeError('damaged', label, 'the document of an API key is invalid');
    return record;
  }

  /** @returns `false` if its hash, its name or its number is taken */
  async function insert(operation: StoreOperation, record: KeyRecord, number: number): Promise<boolean> {
    const row = encodeKey(record, number);
    try {
      await rows.insertOne({ ...row, _id: operation.trackWrite(row._id) }, operation.commandOptions);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async function lastNumber(operation: StoreOperation): Promise<number> {
    const last = await rows.findOne(
      { number: { $gt: operation.trackSend(0) } },
      { ...operation.commandOptions, sort: { number: -1 } },
    );
    return last?.number ?? 0;
  }

  return {
    async find(operation: StoreOperation, hash: string): Promise<KeyRecord | undefined> {
      const row = await rows.findOne({ _id: operation.trackSend(hash) }, operation.commandOptions);
      return row === null ? undefined : checked(row);
    },

    async add(operation: StoreOperation, record: KeyRecord): Promise<void> {
      const { hash, name } = record;
      for (;;) {
        if (await insert(operation, record, (await lastNumber(operation)) + 1)) return;
        // A query, because the errors of some servers do not name the field.
        const taken = await rows.findOne(
          { $or: [{ _id: operation.trackSend(hash) }, { name }] },
          operation.commandOptions,
        );
        if (taken !== null) {
          throw new StoreError('conflict', `An API key named ${JSON.stringify(name)} already exists.`);
        }
        // Another key took the number, or the majority has not confirmed the conflicting key yet.
        await operation.pause();
      }
    },

    async addFirst(operation: StoreOperation, record: KeyRecord): Promise<boolean> {
      // The first key is decided when the majority has confirmed it.
      while ((await lastNumber(operation)) === 0) {
        if (await insert(operation, record, 1)) return true;
        await operation.pause();
      }
      // A retry with the same key returns true: an earlier attempt may have stored it although its response was lost.
      const first = await rows.findOne({ number: operation.trackSend(1) }, operation.commandOptions);
      return first?._id === record.hash;
    },

    async list(operation: StoreOperation): Promise<KeyRecord[]> {
      const filter = { number: { $gt: operation.trackSend(0) } };
      const matches = await rows.find(filter, { ...operation.commandOptions, sort: { number: 1 } }).toArray();
      return matches.map(checked);
    },

    async touch(operation: StoreOperation, hash: string, usedAt: number): Promise<void> {
      const filter = { _id: operation.trackWrite(hash) };
      await rows.updateOne(filter, { $max: { lastUsedAt: new Date(usedAt) } }, operation.commandOptions);
    },

    async revoke(operation: StoreOperation, name: string, revokedAt: number): Promise<KeyRecord | undefined> {
      const revoked = await rows.findOneAndUpdate(
        { name: operation.trackWrite(name), revokedAt: { $exists: false } },
        { $set: { revokedAt: new Date(revokedAt) } },
        { ...operation.commandOptions, returnDocument: 'after' },
      );
      const row =
        revoked ?? (await rows.findOne({ name: operation.trackSend(name) }, operation.commandOptions));
      return row === null ? undefined : checked(row);
    },
  };
}
