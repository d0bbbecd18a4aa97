import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbeddedStore } from './index.ts';
import { animals, collections } from '@petstore/core';

/** Returns the number of transactions: LMDB numbers them and stores the last two numbers in its meta pages. */
async function commits(dataDir: string): Promise<number> {
  const bytes = await readFile(join(dataDir, 'petstore.mdb'));
  const pageSize = bytes.readUInt32LE(48);
  return Math.max(Number(bytes.readBigUInt64LE(152)), Number(bytes.readBigUInt64LE(pageSize + 152)));
}

test('concurrent creates share commits, and sequential creates do not', async () => {
  const pet = { name: 'Rex', categoryId: 1 };
  const dataDir = await temporaryFolder();
  const store = await openEmbeddedStore({ dataDir, collections });
  onTestFinished(() => store.close());
  const start = await commits(dataDir);
  await Promise.all(Array.from({ length: 500 }, () => store.collection(animals).create(pet)));
  const afterConcurrent = await commits(dataDir);
  expect(afterConcurrent - start).toBeLessThan(250);
  for (let count = 0; count < 10; count++) await store.collection(animals).create(pet);
  expect((await commits(dataDir)) - afterConcurrent).toBe(10);
});
