import { defineCollection, type Store } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { openMongodbStore } from '@petstore/core/store/mongodb';
import { testDatabase } from '@petstore/testing/mongodb';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { stores } from './testing/newShelter.ts';
import { isClosing, relatedStore } from './relations.ts';

const Author = z.object({ id: z.int(), version: z.int(), name: z.string(), isClosing });
const Book = z.object({
  id: z.int(),
  version: z.int(),
  title: z.string(),
  authorId: z.int(),
  note: z.string().exactOptional(),
});
const authors = defineCollection({ name: 'authors', schema: Author, id: 'sequence' });
const books = defineCollection({ name: 'books', schema: Book, id: 'sequence', indexes: ['authorId'] });
const collections = [authors, books];
const relations = [{ from: books, field: 'authorId', to: authors }];

/** Opens a store on new data. */
async function open(kind: (typeof stores)[number]) {
  if (kind === 'mongodb') {
    const { uri, database, drop } = testDatabase();
    return { opened: await openMongodbStore({ uri, database, collections }), removeData: drop };
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'relations-'));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  return { opened: await openEmbeddedStore({ dataDir, collections }), removeData };
}

describe.each(stores)('relations on the %s store', (kind) => {
  let opened: Store;
  let removeData: () => Promise<void>;
  let store: Store;
  beforeAll(async () => {
    ({ opened, removeData } = await open(kind));
    store = relatedStore(opened, relations);
  });
  afterAll(async () => {
    await opened.close();
    await removeData();
  });

  const book = (authorId: number) => store.collection(books).create({ title: 'Emma', authorId });
  const author = async () => (await store.collection(authors).create({ name: 'Austen' })).id;
  const booksOf = async (authorId: number) =>
    (await store.collection(books).list({ limit: 100, where: { authorId } })).records;
  const conflict = { code: 'CONFLICT' };

  test('an interrupted delete prevents new references to its record, and the next delete completes it', async () => {
    const id = await author();
    await opened.collection(authors).update(id, { isClosing: true });
    await expect(book(id)).rejects.toMatchObject(conflict);
    expect(await store.collection(authors).delete(id)).toBe(true);
  });

  test('8 concurrent deletes: one returns true', async () => {
    const id = await author();
    const deleted = await Promise.all(Array.from({ length: 8 }, () => store.collection(authors).delete(id)));
    expect(deleted.filter(Boolean)).toHaveLength(1);
  });

  /** Returns a related store that runs `pause` before each call of a method of a collection. */
  function withPause(name: string, method: string, pause: () => Promise<unknown>): Store {
    const paused: Store = {
      ...opened,
      collection(definition) {
        const collection = opened.collection(definition);
        if (definition.name !== name) return collection;
        return new Proxy(collection, {
          get: (target, key) => {
            // oxlint-disable-next-line typescript/no-explicit-any -- the method has any of the store's types
            const original = (target as any)[key];
            // oxlint-disable-next-line typescript/no-explicit-any -- its arguments are passed on as they are
            return key === method ? async (...args: any[]) => (await pause(), original(...args)) : original;
          },
        });
      },
    };
    return relatedStore(paused, relations);
  }

  test('create is reverted if the referenced record is deleted before the record is stored', async () => {
    const id = await author();
    const racing = withPause('books', 'create', () => store.collection(authors).delete(id));
    const create = racing.collection(books).create({ title: 'Emma', authorId: id });
    await expect(create).rejects.toMatchObject(conflict);
    expect(await booksOf(id)).toEqual([]);
  });

  test('update is reverted completely if the referenced record is deleted before the change is stored', async () => {
    const [from, to] = [await author(), await author()];
    const created = await book(from);
    let isFirst = true;
    const racing = withPause('books', 'update', async () => {
      if (isFirst) await store.collection(authors).delete(to);
      isFirst = false;
    });
    const change = { title: 'Persuasion', note: 'Last', authorId: to };
    await expect(racing.collection(books).update(created.id, change)).rejects.toMatchObject(conflict);
    expect(await booksOf(from)).toEqual([{ ...created, version: 3 }]);
    expect(await booksOf(to)).toEqual([]);
  });

  test('delete is reverted if a record starts to refer to its record after the first check', async () => {
    const id = await author();
    const racing = withPause('authors', 'update', async () => {
      if ((await booksOf(id)).length === 0) await book(id);
    });
    await expect(racing.collection(authors).delete(id)).rejects.toMatchObject(conflict);
    expect(await store.collection(authors).get(id)).toEqual({ id, version: 3, name: 'Austen' });
    expect(await booksOf(id)).toHaveLength(1);
  });

  test('concurrent creates, moves and deletes leave no dangling reference', async () => {
    const soon = () => sleep(Math.random() * 4);
    for (let round = 0; round < 20; round += 1) {
      const [from, to] = [await author(), await author()];
      const moved = await book(from);
      const settled = await Promise.allSettled([
        soon().then(() => book(to)),
        soon().then(() => store.collection(books).update(moved.id, { authorId: to })),
        soon().then(() => store.collection(authors).delete(to)),
        soon().then(() => store.collection(authors).delete(to)),
      ]);
      const remaining = await store.collection(authors).get(to);
      expect(remaining?.isClosing).toBeUndefined();
      const stored = settled.slice(0, 2).filter(({ status }) => status === 'fulfilled').length;
      expect(await booksOf(to)).toHaveLength(stored);
      expect(remaining === undefined && stored > 0).toBe(false);
      const errors = settled.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      for (const error of errors) expect(['CONFLICT', 'version-mismatch']).toContain(error.code);
    }
  });
});
