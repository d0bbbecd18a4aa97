import type { Database } from 'lmdb';
import { type KeyRecord, StoreError } from '@petstore/core/store';
import { damaged } from './errors.ts';
import type { DataFolder } from './folder.ts';
import { type Decoded, jsonRow } from './rows.ts';
import { collect, KEY_COUNTER, openCounter, openTable, put } from './table.ts';

interface StoredKey {
  /** From 1, in the order in which the keys were added. */
  readonly number: number;
  readonly record: KeyRecord;
}

/** Opens the tables of API keys by hash, and of hashes by name. */
export function openKeyTables({ root }: DataFolder) {
  const keys: Database<Decoded<StoredKey>, Uint8Array> = openTable(root, 'keys', {
    encoder: jsonRow<StoredKey>(),
    keyEncoding: 'binary',
  });
  const hashes: Database<Decoded<string>, Uint8Array> = openTable(root, 'keys.hashes', {
    encoder: jsonRow<string>(),
    keyEncoding: 'binary',
  });
  return { keys, hashes };
}

/** Opens the API keys. Call the writing methods inside a write transaction. */
export function openKeys(folder: DataFolder) {
  const { path } = folder;
  const counter = openCounter(folder, KEY_COUNTER);
  const { keys, hashes } = openKeyTables(folder);

  function checked<T>(row: T | null): T {
    if (row === null) throw damaged(path, 'the record of an API key is invalid');
    return row;
  }

  function add(record: KeyRecord): void {
    const hash = Buffer.from(record.hash);
    const name = Buffer.from(record.name);
    if (hashes.get(name) !== undefined || keys.get(hash) !== undefined) {
      throw new StoreError('conflict', `An API key named ${JSON.stringify(record.name)} already exists.`);
    }
    const number = counter.last() + 1;
    counter.set(number);
    put(keys, hash, { number, record });
    put(hashes, name, record.hash);
  }

  return {
    find(hash: string): KeyRecord | undefined {
      return checked(keys.get(Buffer.from(hash)))?.record;
    },

    add,

    addFirst(record: KeyRecord): boolean {
      if (counter.last() > 0) return checked(keys.get(Buffer.from(record.hash)))?.number === 1;
      add(record);
      return true;
    },

    list(): KeyRecord[] {
      return collect(keys.getRange())
        .map(({ value }) => checked(value))
        .toSorted((one, other) => one.number - other.number)
        .map(({ record }) => record);
    },

    touch(hash: string, usedAt: number): void {
      const key = Buffer.from(hash);
      const stored = checked(keys.get(key));
      if (stored === undefined || (stored.record.lastUsedAt ?? 0) >= usedAt) return;
      put(keys, key, { ...stored, record: { ...stored.record, lastUsedAt: usedAt } });
    },

    revoke(name: string, revokedAt: number): KeyRecord | undefined {
      const hash = checked(hashes.get(Buffer.from(name)));
      if (hash === undefined) return undefined;
      const stored = checked(keys.get(Buffer.from(hash)));
      if (stored === undefined)
        throw damaged(path, `the API key named ${JSON.stringify(name)} has no record`);
      if (stored.record.revokedAt !== undefined) return stored.record;
      const record = { ...stored.record, revokedAt };
      put(keys, Buffer.from(hash), { ...stored, record });
      return record;
    },
  };
}
