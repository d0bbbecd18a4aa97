import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findDamage } from './dataFile.ts';
import { openEmbeddedStore } from './index.ts';
import { animals, collections } from '@petstore/core';

let dataDir: string;
let intact: Buffer;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
  const store = await openEmbeddedStore({ dataDir, collections });
  for (let count = 0; count < 30; count++)
    await store.collection(animals).create({ name: 'x'.repeat(count * 100), categoryId: 1 });
  await store.close();
  intact = await readFile(join(dataDir, 'petstore.mdb'));
});
afterAll(() => rm(dataDir, { recursive: true }));

async function findDamageIn(bytes: Uint8Array): Promise<string | undefined> {
  const path = join(dataDir, 'copy.mdb');
  await writeFile(path, bytes);
  return findDamage(path);
}

test('findDamage returns undefined for a file with unused bytes at its end', async () => {
  expect(await findDamageIn(Buffer.concat([intact, Buffer.alloc(10_000)]))).toBeUndefined();
});

test('findDamage returns undefined for a file that is being written', async () => {
  const store = await openEmbeddedStore({ dataDir, collections });
  const stop = new AbortController();
  const writes = (async () => {
    while (!stop.signal.aborted) await store.collection(animals).create({ name: 'Rex', categoryId: 1 });
  })();
  for (let count = 0; count < 300; count++) {
    expect(await findDamage(join(dataDir, 'petstore.mdb'))).toBeUndefined();
    await new Promise(setImmediate);
  }
  stop.abort();
  await writes;
  await store.close();
});
