import type { Collection } from 'mongodb';
import type { KeyRecord } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { isDuplicate, type Place, storeError } from './errors.ts';
import type { Operation } from './operation.ts';
import { decodeKey, encodeKey, type KeyRow } from './rows.ts';

/**
 * API keys by their hash; names and numbers are unique. The number says the order, and number 1 the first key: whoever
 * inserts it has made the claim and the key in one.
 */
export function openKeys(rows: Collection<KeyRow>, place: Place) {
  function checked(row: KeyRow): KeyRecord {
    const record = decodeKey(row);
    if (record === null) throw storeError('damaged', place, 'an API key is not what was stored');
    return record;
  }

  /** @returns whether it was stored; `false` where its hash, its name or its number is taken */
  async function insert(operation: Operation, record: KeyRecord, number: number): Promise<boolean> {
    const row = encodeKey(record, number);
    try {
      await rows.insertOne({ ...row, _id: operation.stores(row._id) }, operation.call);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async function lastNumber(operation: Operation): Promise<number> {
    const last = await rows.findOne(
      { number: { $gt: operation.sends(0) } },
      { ...operation.call, sort: { number: -1 } },
    );
    return last?.number ?? 0;
  }

  return {
    async find(operation: Operation, hash: string): Promise<KeyRecord | undefined> {
      const row = await rows.findOne({ _id: operation.sends(hash) }, operation.call);
      return row === null ? undefined : checked(row);
    },

    async add(operation: Operation, record: KeyRecord): Promise<void> {
      const { hash, name } = record;
      for (;;) {
        if (await insert(operation, record, (await lastNumber(operation)) + 1)) return;
        // Which of the three is taken the error of some servers does not say.
        const taken = await rows.findOne({ $or: [{ _id: operation.sends(hash) }, { name }] }, operation.call);
        if (taken !== null) {
          throw new StoreError('conflict', `There is an API key named ${JSON.stringify(name)} already.`);
        }
        // Another took the number, or the majority has not confirmed the key that is there.
        await operation.pause();
      }
    },

    async addFirst(operation: Operation, record: KeyRecord): Promise<boolean> {
      // Whose the first key is nobody knows before a majority has it.
      while ((await lastNumber(operation)) === 0) {
        if (await insert(operation, record, 1)) return true;
        await operation.pause();
      }
      // An attempt whose answer was lost may have stored it: to try again with the same key tells.
      const first = await rows.findOne({ number: operation.sends(1) }, operation.call);
      return first?._id === record.hash;
    },

    async list(operation: Operation): Promise<KeyRecord[]> {
      const filter = { number: { $gt: operation.sends(0) } };
      const found = await rows.find(filter, { ...operation.call, sort: { number: 1 } }).toArray();
      return found.map(checked);
    },

    async touch(operation: Operation, hash: string, usedAt: number): Promise<void> {
      const filter = { _id: operation.stores(hash) };
      await rows.updateOne(filter, { $max: { lastUsedAt: new Date(usedAt) } }, operation.call);
    },

    async revoke(operation: Operation, name: string, revokedAt: number): Promise<KeyRecord | undefined> {
      const revoked = await rows.findOneAndUpdate(
        { name: operation.stores(name), revokedAt: { $exists: false } },
        { $set: { revokedAt: new Date(revokedAt) } },
        { ...operation.call, returnDocument: 'after' },
      );
      const row = revoked ?? (await rows.findOne({ name: operation.sends(name) }, operation.call));
      return row === null ? undefined : checked(row);
    },
  };
}
