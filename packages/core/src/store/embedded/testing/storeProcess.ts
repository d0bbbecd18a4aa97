/*
 * A process of its own that uses a data folder, for tests: to share the folder, to be killed, or to be ended by what a
 * damaged file does to it. `node --conditions=@petstore/source storeProcess.ts <action> <folder> [argument]`; it prints
 * one line of JSON for each result.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { type Animal, animals, type NewPet } from '../../../procedures/animals.ts';
import type { Store } from '../../store.ts';
import { animalRow } from '../../../procedures/animalRow.ts';
import type { RowCodec } from '../../rowCodec.ts';
import { StoreError } from '../../storeError.ts';
import { openEmbeddedStore } from '../index.ts';

// Written at once: what was printed is known to whoever kills this process.
const print = (result: unknown) => writeSync(1, `${JSON.stringify(result)}\n`);

const failure = (error: unknown) =>
  error instanceof StoreError
    ? { code: error.code, message: error.message }
    : { code: 'other', message: String(error) };

const STATUSES = [undefined, 'available', 'pending', 'sold'] as const;

/** An animal that only this call makes. */
function somePet(index: number): NewPet {
  const status = STATUSES[index % STATUSES.length];
  const pet = { name: `${process.pid}/${index} ${'🐕'.repeat(index % 50)}`, categoryId: index };
  return status === undefined ? pet : { ...pet, status };
}

const actions = {
  /** Creates so many animals at once. */
  async create(store: Store, count: string) {
    print(
      await Promise.all(
        Array.from({ length: Number(count) }, (_, index) => store.collection(animals).create(somePet(index))),
      ),
    );
  },

  /** Creates animals for as long as it lives, eight at a time, and prints each that is acknowledged. */
  async createForEver(store: Store) {
    let count = 0;
    const loop = async () => {
      for (;;) print(await store.collection(animals).create(somePet(count++)));
    };
    await Promise.all(Array.from({ length: 8 }, loop));
  },

  async addFirst(store: Store, name: string) {
    print(await store.keys.addFirst({ name, hash: name.padEnd(43, '_'), createdAt: 1 }));
  },

  /** Reads everything. */
  async read(store: Store) {
    for (let cursor = 0, more = true; more; cursor += 100) {
      const { hasNext } = await store.collection(animals).list({ limit: 100, cursor });
      more = hasNext;
    }
    print('read');
  },

  /** Creates animals until the store reports a fatal error; prints how each create failed, and last how a get does. */
  async createUntilFatal(store: Store) {
    for (let isFatal = false; !isFatal;) {
      await store
        .collection(animals)
        .create(somePet(1))
        .catch((error: unknown) => {
          print(failure(error));
        });
      try {
        await store.ready();
      } catch (error) {
        isFatal = error instanceof StoreError && error.code === 'fatal';
      }
    }
    try {
      await store.collection(animals).get(1);
    } catch (error) {
      print(failure(error));
    }
    await store
      .collection(animals)
      .create(somePet(2))
      .catch((error: unknown) => print(failure(error)));
  },

  /** Creates animals of 3 kB, in groups of so many, until it fails; then, on a line of input, one more. */
  async fill(store: Store, group: string) {
    const name = 'x'.repeat(3000);
    let stored = 0;
    for (;;) {
      const results = await Promise.allSettled(
        Array.from({ length: Number(group) }, () =>
          store.collection(animals).create({ name, categoryId: 1 }),
        ),
      );
      stored += results.filter(({ status }) => status === 'fulfilled').length;
      const failed = results.find(({ status }) => status === 'rejected');
      if (failed?.status !== 'rejected') continue;
      print({ stored, ...failure(failed.reason) });
      break;
    }
    process.stdin.once('data', () => {
      store
        .collection(animals)
        .create({ name: 'Rex', categoryId: 1 })
        .then(print, (error: unknown) => print(failure(error)))
        .finally(() => process.exit());
    });
    await new Promise(() => undefined);
  },
};

/** Holds the write lock of the folder until it is killed. */
function holdLock(folder: string) {
  const root = openLmdb({ path: join(folder, 'petstore.mdb'), noSubdir: true, overlappingSync: false });
  root.transactionSync(() => {
    print('held');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}

/** Is killed in the middle of the migration of a folder: when it has read so many animals of it. */
async function dieMigrating(folder: string, rows: string) {
  let left = Number(rows);
  const row: RowCodec<Animal> = {
    encode: (animal) => animalRow.encode(animal),
    decode(bytes) {
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      return animalRow.decode(bytes);
    },
  };
  await openEmbeddedStore({ dataDir: folder, collections: [{ ...animals, row }] });
}

const [action = '', dataDir = '', argument = ''] = process.argv.slice(2);
// As the server does: what nobody handles ends the process.
if (action === 'holdLock') holdLock(dataDir);
if (action === 'dieMigrating') await dieMigrating(dataDir, argument);
try {
  const store = await openEmbeddedStore({
    dataDir,
    onFatal: (error) => print({ fatal: error.message }),
  });
  const run = Object.entries(actions).find(([name]) => name === action)?.[1];
  if (run === undefined) throw new Error(`There is no action ${action}.`);
  await run(store, argument);
  await store.close();
} catch (error) {
  print(failure(error));
}
