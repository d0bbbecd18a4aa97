import { BSON, type Document, Long, MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openMongodbStore } from './index.ts';
import { mongodbUri, startFaultProxy, testDatabase, type TestDatabase } from '@petstore/testing/mongodb';
import type { ListQuery } from '../store.ts';
import { type Animal, animals } from '../../procedures/animals.ts';
import { collections } from '../../collections.ts';

/** OP_MSG: a header of 16 bytes, flags, and a section of kind 0 that contains the command. */
const OP_MSG = 2013;
const BODY = 21;

/** Lists animals, captures the command on the connection and lets the server explain it. */
async function explainList({ uri, database }: TestDatabase, query: ListQuery<Animal, 'status'>) {
  const finds: Document[] = [];
  const proxy = await startFaultProxy(uri, (message) => {
    if (message.readInt32LE(12) !== OP_MSG || message.readUInt8(BODY - 1) !== 0) return;
    const command = BSON.deserialize(message.subarray(BODY, BODY + message.readInt32LE(BODY)), {
      promoteLongs: false,
    });
    if (command['find'] === 'animals') finds.push(command);
  });
  const store = await openMongodbStore({ uri: proxy.uri, database, collections });
  // The start sends a find for the greatest id.
  await store.ready();
  finds.length = 0;
  await store.collection(animals).list(query);
  await store.close();
  await proxy.close();
  const { lsid: _lsid, $db: _db, $clusterTime: _time, ...command } = finds[0] ?? {};

  const client = new MongoClient(uri);
  const { queryPlanner: plan } = await client.db(database).command({ explain: command });
  await client.close();
  return { command, plan };
}

async function filledDatabase() {
  const database = testDatabase();
  const store = await openMongodbStore({ ...database, collections });
  onTestFinished(async () => {
    await store.close();
    await database.drop();
  });
  await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      store
        .collection(animals)
        .create({ name: 'Rex', categoryId: 1, status: index % 3 === 0 ? 'sold' : 'available' }),
    ),
  );
  return database;
}

describe.skipIf(mongodbUri === undefined)('list', () => {
  test('list sends queries with limit + 1 that the indexes of _id and of the status serve', async () => {
    const database = await filledDatabase();
    const command = { find: 'animals', sort: { _id: 1 }, limit: 21 };
    const after = { _id: { $gt: Long.fromNumber(100) } };
    const all = await explainList(database, { limit: 20, cursor: 100 });
    expect(all.command).toEqual({ ...command, filter: after });
    const plan = JSON.stringify(all.plan);
    expect(plan).toMatch(/"index ?name":"_id_"/i);
    // The bounds in the formats of MongoDB and DocumentDB.
    expect(plan).toMatch(
      /"indexBounds":\{"_id":\["\(100|"Index Cond":"[^"]*object_id OPERATOR\(documentdb_core\.>\)/,
    );
    const sold = await explainList(database, { limit: 20, cursor: 100, where: { status: 'sold' } });
    expect(sold.command).toEqual({ ...command, filter: { status: 'sold', ...after } });
    expect(JSON.stringify(sold.plan)).toMatch(/"index ?name":"(_id_|status_1__id_1)"/i);
  });
});
