import type { Collection } from 'mongodb';
import type { KeyRecord, KeyStore } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { type DatabaseLabel, isInserted, storeError } from './errors.ts';
import type { OperationOptions, StoreOperation } from './operation.ts';
import { decodeKey, encodeKey, type KeyRow } from './rows.ts';

/** Runs an operation on the keys. */
type Run = <T>(
  work: (rows: Collection<KeyRow>, operation: StoreOperation) => Promise<T>,
  callOptions?: OperationOptions,
) => Promise<T>;

/** Hash, name and number of a key are unique; numbers are the order. Inserting number 1 claims the first key. */
export function createKeyStore(run: Run, label: DatabaseLabel): KeyStore {
  function checked(row: KeyRow): KeyRecord {
    const record = decodeKey(row);
    if (record === null) throw storeError('damaged', label, 'the document of an API key is invalid');
    return record;
  }

  return {
    find: (hash, callOptions) =>
      run(
        async (rows, operation) => {
          const row = await rows.findOne({ _id: operation.trackSend(hash) }, operation.commandOptions);
          return row === null ? undefined : checked(row);
        },
        // Half of the timeout, because the authenticated call follows with another timeout.
        { ...callOptions, timeoutShare: 0.5 },
      ),

    add: (record) =>
      run(async (rows, operation) => {
        const { hash, name } = record;
        for (;;) {
          if (await insert(rows, operation, record, (await lastNumber(rows, operation)) + 1)) return;
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
      }),

    addFirst: (record) =>
      run(async (rows, operation) => {
        // The first key is decided when the majority has confirmed it.
        while ((await lastNumber(rows, operation)) === 0) {
          if (await insert(rows, operation, record, 1)) return true;
          await operation.pause();
        }
        // A retry with the same key returns true: an earlier attempt may have stored it although its response was lost.
        const first = await rows.findOne({ number: operation.trackSend(1) }, operation.commandOptions);
        return first?._id === record.hash;
      }),

    list: () =>
      run(async (rows, operation) => {
        const filter = { number: { $gt: operation.trackSend(0) } };
        const options = { ...operation.commandOptions, sort: { number: 1 } } as const;
        return (await rows.find(filter, options).toArray()).map(checked);
      }),

    touch: (hash, usedAt) =>
      run(async (rows, operation) => {
        const filter = { _id: operation.trackWrite(hash) };
        await rows.updateOne(filter, { $max: { lastUsedAt: new Date(usedAt) } }, operation.commandOptions);
      }),

    revoke: (name, revokedAt) =>
      run(async (rows, operation) => {
        const revoked = await rows.findOneAndUpdate(
          { name: operation.trackWrite(name), revokedAt: { $exists: false } },
          { $set: { revokedAt: new Date(revokedAt) } },
          { ...operation.commandOptions, returnDocument: 'after' },
        );
        const row =
          revoked ?? (await rows.findOne({ name: operation.trackSend(name) }, operation.commandOptions));
        return row === null ? undefined : checked(row);
      }),
  };
}

/** @returns `false` if its hash, its name or its number is taken */
function insert(
  rows: Collection<KeyRow>,
  operation: StoreOperation,
  record: KeyRecord,
  number: number,
): Promise<boolean> {
  const row = encodeKey(record, number);
  const tracked = { ...row, _id: operation.trackWrite(row._id) };
  return isInserted(rows.insertOne(tracked, operation.commandOptions));
}

async function lastNumber(rows: Collection<KeyRow>, operation: StoreOperation): Promise<number> {
  const last = await rows.findOne(
    { number: { $gt: operation.trackSend(0) } },
    { ...operation.commandOptions, sort: { number: -1 } },
  );
  return last?.number ?? 0;
}
