import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { collections } from '../../../collections.ts';
import { animals } from '../../../procedures/animals.ts';
import { type CollectionDefinition, defineCollection, type StoredRecord } from '../../collection.ts';
import {
  animalsWithKennel,
  categories,
  Category,
  contractCollections,
  kennels,
  petWith,
  promiseOf,
  storeErrorWith,
  type StoreTest,
  texts,
} from './storeTest.ts';

/** Declares the cases about fields, and about data that another version stored. */
export function versionCases(t: StoreTest): void {
  describe('a field', () => {
    // Of each collection. A new field needs a value here.
    test.for<[name: string, definition: CollectionDefinition, values: readonly object[]]>([
      [
        'animals',
        animals,
        [
          ...texts.map((text) => ({ name: text, categoryId: Number.MIN_SAFE_INTEGER, status: 'pending' })),
          { name: 'Rex', categoryId: Number.MAX_SAFE_INTEGER },
        ],
      ],
      [
        'categories',
        categories,
        [
          { name: 'Dogs', kind: '', size: 1e300, note: null, tags: [{ tag: '\u0000' }, { tag: '' }] },
          { name: 'Cats', kind: '$a.b', size: -5e-324, note: '__proto__', tags: [] },
          { name: 'Lions' },
        ],
      ],
    ])(
      'every field of %s is read as it was written, by get and list, also after reopening',
      async ([, definition, values]) => {
        const assigned = definition.fields.filter((field) => field === 'id' || field === 'version');
        const present = new Set([...assigned, ...values.flatMap((each) => Object.keys(each))]);
        expect(present).toEqual(new Set(definition.fields));
        const stored: StoredRecord[] = [];
        for (const each of values) {
          const record = await t.store.collection(definition).create(each);
          expect(record).toMatchObject(each);
          expect(new Set(Object.keys(record))).toEqual(new Set([...assigned, ...Object.keys(each)]));
          stored.push(record);
        }
        for (let round = 0; round < 2; round++) {
          const records = t.store.collection(definition);
          for (const record of stored) expect(await records.get(record.id)).toEqual(record);
          expect((await records.list({ limit: 100 })).records).toEqual(stored);
          await t.reopen();
        }
      },
    );

    test('an optional field and its index can be added: earlier records and idempotency keys stay valid', async () => {
      const reservation = { caller: 'caller', key: 'key' };
      const earlier = [
        await t.pets.create(petWith({ status: 'sold' })),
        (await t.pets.createOnce(petWith(), reservation)).record,
      ];
      await t.store.close();
      const later = [
        animalsWithKennel,
        ...contractCollections.filter(({ name: each }) => each !== 'animals'),
      ];
      await t.openAgain(later);
      let records = t.store.collection(animalsWithKennel);
      expect((await records.list({ limit: 10 })).records).toEqual(earlier);
      expect(await records.createOnce(petWith(), reservation)).toEqual({
        record: earlier[1],
        isReplay: true,
      });
      const other = records.createOnce({ ...petWith(), kennel: 1 }, reservation);
      await expect(other).rejects.toEqual(storeErrorWith('key-reused'));

      const created = await records.create({ ...petWith(), kennel: 1 });
      const moved = await records.update(earlier[0]?.id ?? 0, { kennel: 1 });
      expect([created, moved]).toMatchObject([{ kennel: 1 }, { kennel: 1, status: 'sold' }]);
      await t.store.close();
      await t.openAgain(later);
      records = t.store.collection(animalsWithKennel);
      expect(await records.get(created.id)).toEqual(created);
      const list = async (kennel: number) => (await records.list({ limit: 10, where: { kennel } })).records;
      expect([await list(1), await list(2)]).toEqual([[moved, created], []]);
    });
  });

  test('a record that a later schema rejects cannot be read by it, and is kept', async () => {
    const kinds = t.store.collection(categories);
    const dogs = await kinds.create({ name: 'Dogs', kind: 'pet' });
    const lions = await kinds.create({ name: 'Lions' });
    await t.store.close();
    const stricter = defineCollection({
      name: 'categories',
      schema: Category.extend({ kind: z.literal('wild').exactOptional() }),
      id: 'sequence',
      indexes: [{ field: 'name', unique: true }, 'kind', 'size'],
    });
    const later = [...collections, stricter];
    await t.openAgain(later);
    const records = t.store.collection(stricter);
    const incompatible = expect.objectContaining({
      code: 'incompatible',
      message: expect.stringMatching(
        /^The category 1 in the .* cannot be read: the schema of categories in this version rejects it \(kind: .*\)\. Start the version that stored it, or let the schema accept it\.$/,
      ),
    });
    await expect(promiseOf(() => records.get(dogs.id))).rejects.toEqual(incompatible);
    await expect(promiseOf(() => records.list({ limit: 10 }))).rejects.toEqual(incompatible);
    await expect(records.update(dogs.id, { name: 'Cats' })).rejects.toEqual(incompatible);
    await expect(records.delete(dogs.id)).rejects.toEqual(incompatible);
    expect(await records.get(lions.id)).toEqual(lions);
    const stored = (await t.reopen()).collection(categories);
    expect((await stored.list({ limit: 10 })).records).toEqual([dogs, lions]);
  });

  describe('a store of another version', () => {
    const later = [...contractCollections, kennels];
    const reported: string[] = [];
    const onMigrated = (what: string) => void reported.push(what);
    /** Opens the store and waits until it is ready. */
    const ready = async (definitions: typeof later, migrate?: boolean) => {
      await t.store.close();
      await (await t.openAgain(definitions, { migrate, onMigrated })).ready();
    };
    beforeEach(() => void reported.splice(0));

    test.for([true, false])('opening new data reports no migration with migrate: %s', async (migrate) => {
      await t.store.close();
      await t.renew();
      await ready(contractCollections.slice(), migrate);
      expect(reported).toEqual([]);
    });

    test('opening a store adds a missing collection and reports it', async () => {
      await ready(later);
      const sentence = /^Added the collection kennels to the (?:data in|database) .*\.$/;
      expect(reported).toEqual([expect.stringMatching(sentence)]);
      expect(await t.store.collection(kennels).create({ size: 2 })).toEqual({ id: 1, size: 2 });
    });

    test('opening a store without a collection fails with migration-needed if migrate is false', async () => {
      await expect(ready(later, false)).rejects.toMatchObject({
        code: 'migration-needed',
        message: expect.stringMatching(
          /^The data in .* was created by an earlier version\. Start the service, which migrates it\.$/,
        ),
      });
      await expect(ready(later.slice(0, -1), false)).resolves.toBeUndefined();
    });

    test('opening a store with an unknown collection fails, and keeps it', async () => {
      await ready(later);
      const kennel = await t.store.collection(kennels).create({ size: 2 });
      await expect(ready(later.slice(0, -1))).rejects.toMatchObject({
        code: 'damaged',
        message: expect.stringMatching(
          /^The data in .* has a collection "kennels" that this version does not know\. Start the version that created it, or choose another (?:folder|database)\.$/,
        ),
      });
      await ready(later);
      expect(await t.store.collection(kennels).get(kennel.id)).toEqual(kennel);
    });
  });
}
