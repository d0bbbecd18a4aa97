import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, test } from 'vitest';
import { findDamage } from './dataFile.ts';
import { openEmbeddedStore } from './index.ts';
import { animals, collections } from '@petstore/core';

test('findDamage returns undefined for a file that is being written, and for one with unused bytes at its end', async () => {
  const dataDir = await temporaryFolder();
  const file = join(dataDir, 'petstore.mdb');
  const store = await openEmbeddedStore({ dataDir, collections });
  const stop = new AbortController();
  const writes = (async () => {
    while (!stop.signal.aborted) await store.collection(animals).create({ name: 'Rex', categoryId: 1 });
  })();
  for (let count = 0; count < 300; count++) {
    expect(await findDamage(file)).toBeUndefined();
    await new Promise(setImmediate);
  }
  stop.abort();
  await writes;
  await store.close();
  await appendFile(file, Buffer.alloc(10_000));
  expect(await findDamage(file)).toBeUndefined();
});
