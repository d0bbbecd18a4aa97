import { Long } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openMongodbStore } from './index.ts';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';
import { explainList } from './testing/explainList.ts';
import { animals } from '../../procedures/animals.ts';
import { collections } from '../../collections.ts';

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
  test('list without a status scans the index of _id from the cursor', async () => {
    const { command, plan } = await explainList(await filledDatabase(), { limit: 20, cursor: 100 });
    expect(command).toEqual({
      find: 'animals',
      filter: { _id: { $gt: Long.fromNumber(100) } },
      sort: { _id: 1 },
      limit: 21,
    });
    const text = JSON.stringify(plan);
    expect(text).toMatch(/"index ?name":"_id_"/i);
    // The bounds in the formats of MongoDB and DocumentDB.
    expect(text).toMatch(
      /"indexBounds":\{"_id":\["\(100|"Index Cond":"[^"]*object_id OPERATOR\(documentdb_core\.>\)/,
    );
  });

  test('list with a status sends a query that the index {status, _id} serves, with limit + 1', async () => {
    const query = { limit: 20, cursor: 100, where: { status: 'sold' } } as const;
    const { command, plan } = await explainList(await filledDatabase(), query);
    expect(command).toEqual({
      find: 'animals',
      filter: { status: 'sold', _id: { $gt: Long.fromNumber(100) } },
      sort: { _id: 1 },
      limit: 21,
    });
    expect(JSON.stringify(plan)).toMatch(/"index ?name":"(_id_|status_1__id_1)"/i);
  });
});
