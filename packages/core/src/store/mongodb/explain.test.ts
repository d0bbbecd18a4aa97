import { Collection, type Document, Long } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mongodbUri } from '@petstore/testing/mongodb';
import { animals } from '../../procedures/animals.ts';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';

describe.skipIf(mongodbUri === undefined)('list', () => {
  test('list sends queries with limit + 1 that the indexes of _id and of the status serve', async () => {
    const { connect, open } = await proxiedDatabase();
    const pets = (await open()).collection(animals);
    const statuses = Array.from({ length: 300 }, (_, index) => (index % 3 === 0 ? 'sold' : 'available'));
    await Promise.all(statuses.map((status) => pets.create({ name: 'Rex', categoryId: 1, status })));
    const find = vi.spyOn(Collection.prototype, 'find');
    onTestFinished(() => find.mockRestore());
    await pets.list({ limit: 20, cursor: 100 });
    await pets.list({ limit: 20, cursor: 100, where: { status: 'sold' } });

    const after = { _id: { $gt: { toBSON: expect.any(Function) } } };
    const options = expect.objectContaining({ sort: { _id: 1 }, limit: 21 });
    expect(find.mock.calls).toEqual([
      [after, options],
      [{ status: 'sold', ...after }, options],
    ]);
    const command = { find: 'animals', sort: { _id: 1 }, limit: 21 };
    const planOf = async (filter: Document) => {
      const from = { _id: { $gt: Long.fromNumber(100) } };
      const explained = await connect().command({ explain: { ...command, filter: { ...filter, ...from } } });
      return JSON.stringify(explained['queryPlanner']);
    };
    const plan = await planOf({});
    expect(plan).toMatch(/"index ?name":"_id_"/i);
    // The bounds in the formats of MongoDB and DocumentDB.
    expect(plan).toMatch(
      /"indexBounds":\{"_id":\["\(100|"Index Cond":"[^"]*object_id OPERATOR\(documentdb_core\.>\)/,
    );
    expect(await planOf({ status: 'sold' })).toMatch(/"index ?name":"(_id_|status_1__id_1)"/i);
  });
});
