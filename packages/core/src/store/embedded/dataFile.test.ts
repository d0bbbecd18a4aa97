import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findDamage } from './dataFile.ts';
import { openEmbeddedStore } from './index.ts';
import { animals } from '../../procedures/animals.ts';

let dataDir: string;
let intact: Buffer;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
  const store = await openEmbeddedStore({ dataDir });
  for (let count = 0; count < 30; count++)
    await store.collection(animals).create({ name: 'x'.repeat(count * 100), categoryId: 1 });
  await store.close();
  intact = await readFile(join(dataDir, 'petstore.mdb'));
});
afterAll(() => rm(dataDir, { recursive: true }));

async function damageOf(bytes: Uint8Array): Promise<string | undefined> {
  const path = join(dataDir, 'copy.mdb');
  await writeFile(path, bytes);
  return findDamage(path);
}

test('an intact file has none', async () => {
  expect(await damageOf(intact)).toBeUndefined();
});

test('a file that grew and was not used yet has none', async () => {
  expect(await damageOf(Buffer.concat([intact, Buffer.alloc(10_000)]))).toBeUndefined();
});

test('a file that is cut off anywhere has', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(intact.length - 1), async (length) => {
      expect(await damageOf(intact.subarray(0, length))).toMatch(/cut off|empty/);
    }),
    { numRuns: 40 },
  );
});

test('a file that keeps being written by another process has none', async () => {
  const store = await openEmbeddedStore({ dataDir });
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
