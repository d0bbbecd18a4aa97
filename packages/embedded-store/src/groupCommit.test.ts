import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '@petstore/core/store';
import { openEmbeddedStore } from './index.ts';
import { animals, collections } from '@petstore/core';

let dataDir: string;
let store: Store;

beforeEach(async () => {
  dataDir = await temporaryFolder();
  store = await openEmbeddedStore({ dataDir, collections });
});
afterEach(() => store.close());

/** Returns the number of transactions: LMDB numbers them and stores the last two numbers in its meta pages. */
async function commits(): Promise<number> {
  const bytes = await readFile(join(dataDir, 'petstore.mdb'));
  const pageSize = bytes.readUInt32LE(48);
  return Math.max(Number(bytes.readBigUInt64LE(152)), Number(bytes.readBigUInt64LE(pageSize + 152)));
}

test('concurrent creates share commits, and sequential creates do not', async () => {
  const pet = { name: 'Rex', categoryId: 1 };
  const start = await commits();
  await Promise.all(Array.from({ length: 500 }, () => store.collection(animals).create(pet)));
  const afterConcurrent = await commits();
  expect(afterConcurrent - start).toBeLessThan(250);
  for (let count = 0; count < 10; count++) await store.collection(animals).create(pet);
  expect((await commits()) - afterConcurrent).toBe(10);
});

test('a rejected write does not affect other writes of its commit', async () => {
  const key = (hash: string) => ({ name: 'deploy', hash: hash.repeat(43), createdAt: 1 });
  await store.keys.add(key('a'));
  const results = await Promise.allSettled([
    store.collection(animals).create({ name: 'Rex', categoryId: 1 }),
    store.keys.add(key('b')),
    store.collection(animals).create({ name: 'Bello', categoryId: 1 }),
  ]);
  expect(results).toMatchObject([
    { status: 'fulfilled', value: { id: 1 } },
    { status: 'rejected', reason: { code: 'conflict' } },
    { status: 'fulfilled', value: { id: 2 } },
  ]);
});
