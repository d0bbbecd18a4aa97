/*
 * Uses a data folder, for tests that share it, kill the process or damage the file. Prints each result as a line of JSON:
 * `node --conditions=trpc-gateway-source storeProcess.ts <action> <folder> [argument]`
 */
import { writeSync } from 'node:fs';
import { animals, collections, type NewPet } from '@petstore/core';
import { type Store, StoreError } from '@petstore/core/store';
import { openEmbeddedStore } from '../index.ts';

// Synchronous, so that printed results are complete when this process is killed.
const print = (result: unknown) => writeSync(1, `${JSON.stringify(result)}\n`);

const errorFields = (error: unknown) =>
  error instanceof StoreError
    ? { code: error.code, message: error.message }
    : { code: 'other', message: String(error) };

/** Returns values that no other call uses. */
const somePet = (index: number): NewPet => ({
  name: `${process.pid}/${index} ${'🐕'.repeat(index % 50)}`,
  categoryId: index,
  ...(index % 4 === 0 && { status: 'sold' }),
});

const actions = {
  /** Creates animals concurrently. */
  async create(store: Store, count: string) {
    print(
      await Promise.all(
        Array.from({ length: Number(count) }, (_, index) => store.collection(animals).create(somePet(index))),
      ),
    );
  },

  async read(store: Store) {
    for (let cursor = 0, more = true; more; cursor += 100) {
      const { hasNext } = await store.collection(animals).list({ limit: 100, cursor });
      more = hasNext;
    }
    print('read');
  },

  /** Creates animals until the store reports a fatal error. Prints the error of each create, then of a get and a create. */
  async createUntilFatal(store: Store) {
    const pets = store.collection(animals);
    const attempt = async (call: () => unknown) => {
      try {
        await call();
      } catch (error) {
        print(errorFields(error));
      }
    };
    for (let isFatal = false; !isFatal;) {
      await attempt(() => pets.create(somePet(1)));
      try {
        await store.ready();
      } catch (error) {
        isFatal = error instanceof StoreError && error.code === 'fatal';
      }
    }
    await attempt(() => pets.get(1));
    await attempt(() => pets.create(somePet(2)));
  },
};

/** Kills this process while it builds an index of a folder, after it has read a number of animals. */
async function dieIndexing(folder: string, rows: string) {
  let left = Number(rows);
  const check = (value: unknown) => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    return animals.check(value);
  };
  await openEmbeddedStore({ dataDir: folder, collections: [{ ...animals, check }] });
}

const [action = '', dataDir = '', argument = ''] = process.argv.slice(2);
// Unhandled rejections end this process, as they end the server.
if (action === 'dieIndexing') await dieIndexing(dataDir, argument);
try {
  const store = await openEmbeddedStore({
    dataDir,
    onFatal: (error) => print({ fatal: error.message }),
    collections,
  });
  const run = Object.entries(actions).find(([name]) => name === action)?.[1];
  if (run === undefined) throw new Error(`There is no action ${action}.`);
  await run(store, argument);
  await store.close();
} catch (error) {
  print(errorFields(error));
}
