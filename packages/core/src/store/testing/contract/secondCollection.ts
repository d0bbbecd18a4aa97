import { beforeEach, describe, expect, test } from 'vitest';
import { defineCollection } from '../../collection.ts';
import type { Collection } from '../../store.ts';
import { categories, Category, petWith, promiseOf, storeErrorWith, type StoreTest } from './storeTest.ts';

/** Declares the cases about a collection with versions and unique values. */
export function secondCollectionCases(t: StoreTest): void {
  describe('a second collection', () => {
    let kinds: Collection<Category, 'name' | 'kind' | 'size'>;
    beforeEach(() => {
      kinds = t.store.collection(categories);
    });

    test('each collection has its own ids', async () => {
      const { id } = await t.pets.create(petWith());
      const created = await kinds.create({ name: 'Dogs' });
      expect(created).toEqual({ id, version: 1, name: 'Dogs' });
      expect(await t.pets.get(id)).toEqual({ id, name: 'Rex', categoryId: 1 });
    });

    test.for([
      ['a unique field', 'name', 'Dogs'],
      ['a string of 5,000 characters', 'kind', 'x'.repeat(5_000)],
      ['an empty string', 'kind', ''],
      ['a negative fraction', 'size', -0.5],
      ['an integer beyond 32 bits', 'size', 2 ** 40],
    ] as const)('list filters by %s', async ([, field, value]) => {
      const created = await kinds.create({ name: 'a name', [field]: value });
      await kinds.create({ name: 'another', kind: 'x'.repeat(5_001), size: 1 });
      expect(await kinds.list({ limit: 10, where: { [field]: value } })).toEqual({
        records: [created],
        hasNext: false,
      });
    });

    test('list rejects a filter by a field without an index, or by two fields, with a TypeError', async () => {
      const where = [{ note: 'x' }, { name: 'Dogs', kind: 'pet' }] as object[];
      for (const each of where) {
        const error = { name: 'TypeError', message: expect.stringContaining('one of its indexes') };
        await expect(promiseOf(() => kinds.list({ limit: 1, where: each }))).rejects.toMatchObject(error);
      }
    });

    test('one of ten concurrent creates with a unique value succeeds, and createOnce and update reject it too', async () => {
      const creates = Array.from({ length: 10 }, () => kinds.create({ name: 'Dogs' }));
      const results = await Promise.allSettled(creates);
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(reasons).toEqual(Array.from({ length: 9 }, () => storeErrorWith('conflict')));
      const cats = await kinds.create({ name: 'Cats' });
      await expect(kinds.create({ name: 'Dogs' })).rejects.toEqual(storeErrorWith('conflict'));
      await expect(kinds.update(cats.id, { name: 'Dogs' })).rejects.toEqual(storeErrorWith('conflict'));
      const once = kinds.createOnce({ name: 'Dogs' }, { caller: 'caller', key: 'key' });
      await expect(once).rejects.toEqual(storeErrorWith('conflict'));
      const { records } = await kinds.list({ limit: 20 });
      expect(records).toEqual([{ id: expect.any(Number), version: 1, name: 'Dogs' }, cats]);
      const id = records[0]?.id ?? 0;
      expect(await kinds.update(id, { name: 'Dogs' })).toMatchObject({ name: 'Dogs' });
    });

    test('update and delete free a unique value', async () => {
      const [one, other] = [await kinds.create({ name: 'Dogs' }), await kinds.create({ name: 'Cats' })];
      await kinds.update(one.id, { name: 'Hounds' });
      await kinds.update(other.id, { name: 'Dogs' });
      await kinds.delete(other.id);
      expect(await kinds.create({ name: 'Dogs' })).toMatchObject({ name: 'Dogs' });
    });

    test('update with null stores null in a nullable field, and removes another optional field and its index entry', async () => {
      const { id } = await kinds.create({ name: 'Dogs', note: 'a', size: 1 });
      const updated = await kinds.update(id, { note: null, size: null });
      expect(updated).toEqual({ id, version: 2, name: 'Dogs', note: null });
      const stored = await kinds.get(id);
      expect(stored).toEqual(updated);
      expect(Object.keys(stored ?? {})).not.toContain('size');
      expect((await kinds.list({ limit: 10, where: { size: 1 } })).records).toEqual([]);
    });

    test('update increments the version, and update and delete with ifVersion require it', async () => {
      const { id, version } = await kinds.create({ name: 'Dogs' });
      const noted = await kinds.update(id, { note: 'a', version: 9 } as object, { ifVersion: version });
      expect(noted).toEqual({ id, version: 2, name: 'Dogs', note: 'a' });
      const late = kinds.update(id, { note: 'b' }, { ifVersion: version });
      await expect(late).rejects.toEqual(storeErrorWith('version-mismatch'));
      await expect(kinds.delete(id, { ifVersion: 1 })).rejects.toEqual(storeErrorWith('version-mismatch'));
      expect(await kinds.get(id)).toEqual(noted);
      expect(await kinds.delete(id, { ifVersion: 2 })).toBe(true);
      expect(await kinds.update(id, { note: 'c' }, { ifVersion: 2 })).toBeUndefined();
      expect(await kinds.delete(id, { ifVersion: 2 })).toBe(false);
    });

    test('one of ten concurrent updates with the same ifVersion succeeds, and all without it', async () => {
      const { id, version } = await kinds.create({ name: 'Dogs' });
      const updates = (options?: { readonly ifVersion: number }) =>
        Array.from({ length: 10 }, (_, each) => kinds.update(id, { size: each }, options));
      const results = await Promise.allSettled(updates({ ifVersion: version }));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await kinds.get(id)).toMatchObject({ version: 2 });
      await Promise.all(updates());
      expect(await kinds.get(id)).toMatchObject({ version: 12 });
    });

    test('update and delete reject ifVersion for a schema without version, and store nothing', async () => {
      const created = await t.pets.create(petWith());
      const ifVersion = { ifVersion: 1 } as object;
      await expect(t.pets.update(created.id, { name: 'Max' }, ifVersion)).rejects.toThrow(
        'needs a field "version"',
      );
      await expect(t.pets.delete(created.id, ifVersion)).rejects.toThrow('needs a field "version"');
      expect(await t.pets.get(created.id)).toEqual(created);
    });

    test('collection() throws for a definition that the store was opened without', () => {
      const other = defineCollection({ name: 'others', schema: Category, id: 'sequence' });
      expect(() => t.store.collection(other)).toThrow('The store was opened without the collection others');
    });
  });
}
