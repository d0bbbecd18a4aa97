import { mongodbUri, startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { MongoClient } from 'mongodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mongodbState } from './mongodb.ts';
import { describeState } from './testing/stateContract.ts';

async function newDatabase() {
  const database = testDatabase();
  const client = new MongoClient(database.uri);
  onTestFinished(async () => {
    await client.close();
    await database.drop();
  });
  const open = async () => {
    const state = await mongodbState({
      connect: () => new MongoClient(database.uri, { serverSelectionTimeoutMS: 500 }),
      database: database.database,
    });
    onTestFinished(() => state.close());
    return state;
  };
  return { ...database, db: client.db(database.database), open };
}

it('mongodbState rejects a driver that has no signals, with its version', async () => {
  const client = new MongoClient('mongodb://127.0.0.1');
  Object.assign(client.options, { metadata: { driver: { name: 'nodejs', version: '6.12.0' } } });
  await expect(mongodbState({ connect: () => client })).rejects.toThrow(
    'The state needs `mongodb` 6.13 or newer, found 6.12.0.',
  );
});

describe.skipIf(mongodbUri === undefined)('MongoDB', () => {
  describeState(
    'in MongoDB',
    async () => {
      const { open } = await newDatabase();
      return { state: await open(), reopen: open };
    },
    { tolerance: 0.05 },
  );

  it('mongodbState stores hashes of keys only, and has a TTL index on expiresAt', async () => {
    const { db, open } = await newDatabase();
    const state = await open();
    await state.add('credential secret', 'value', 60_000);
    await state.take('credential secret', 1, { size: 10, windowMs: 60_000 });
    const rows = await db.collection('gatewayState').find().toArray();
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain('secret');
    expect(await db.collection('gatewayState').indexes()).toContainEqual(
      expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }),
    );
  });

  it('unused tokens of a lease return to the bucket', async () => {
    const { open } = await newDatabase();
    const [one, other] = [await open(), await open()];
    const bucket = { size: 1000, windowMs: 3_600_000 };
    expect(await one.take('a', 1, bucket)).toMatchObject({ isTaken: true, left: 999 });
    // The first process has leased a 64th.
    expect(await other.take('a', 0, bucket)).toMatchObject({ left: 985 });
    await expect.poll(async () => (await other.take('a', 0, bucket)).left).toBe(999);
  });

  it('a process leases no tokens if they would not suffice, and none to read a bucket', async () => {
    const { open } = await newDatabase();
    const [one, other] = [await open(), await open()];
    const bucket = { size: 10, windowMs: 3_600_000 };
    await one.take('a', 4, bucket);
    expect(await one.take('a', 7, bucket)).toMatchObject({ isTaken: false, left: 6 });
    expect(await other.take('a', 6, bucket)).toMatchObject({ isTaken: true, left: 0 });
    const large = { size: 1000, windowMs: 3_600_000 };
    await one.take('b', 0, large);
    expect(await other.take('b', 1000, large)).toMatchObject({ isTaken: true, left: 0 });
  });

  it('operations without a response reject, and later ones have another client, one for all', async () => {
    const proxy = await startFaultProxy(mongodbUri ?? '');
    onTestFinished(() => proxy.close());
    const { database } = await newDatabase();
    let clients = 0;
    const connect = () => {
      clients += 1;
      return new MongoClient(proxy.uri, { serverSelectionTimeoutMS: 500 });
    };
    const state = await mongodbState({ connect, database });
    onTestFinished(() => state.close());
    await state.add('a', 'first', 60_000);
    expect(clients).toBe(1);
    proxy.set({ kind: 'freeze' });
    const writes = await Promise.allSettled(
      ['b', 'c'].map(async (key) => state.set(key, 'value', 60_000, 'ada')),
    );
    expect(writes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    proxy.set({ kind: 'none' });
    expect(await state.add('a', 'second', 60_000)).toBe('first');
    expect(clients).toBe(2);
  });
});
