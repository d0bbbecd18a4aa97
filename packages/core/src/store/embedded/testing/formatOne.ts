import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { open as openLmdb } from 'lmdb';
import { type Animal, PetStatus } from '../../../procedures/animals.ts';
import type { StoredRecord } from '../../collection.ts';
import { idKey } from '../idKey.ts';
import { seal } from '../checksum.ts';
import { decodeCompactAnimal } from '../compactAnimal.ts';
import { type Decoded, jsonRow } from '../rows.ts';
import { openTable, put } from '../table.ts';

/** Creation time of the fixture. Its idempotency keys expire 24 hours later. */
export const formatOneCreatedAt = Date.parse('2026-11-22T08:00:00Z');

const statuses = [undefined, 'available', 'pending', 'sold'] as const;

/**
 * The animals in `fixtures/format1.mdb.gz` and in `fixtures/format1.json` of the MongoDB store. The last three were created
 * with idempotency keys.
 */
export const formatOneAnimals: readonly Animal[] = Array.from({ length: 28 }, (_, index) => {
  const id = index + 1;
  const onceNumber = id - 25;
  if (onceNumber > 0) {
    const animal = { id, name: `once ${onceNumber}`, categoryId: onceNumber };
    return onceNumber === 2 ? { ...animal, status: 'sold' } : animal;
  }
  const status = statuses[id % 4];
  const name = id === 5 ? 'a\u0000b 👩‍🚒é' : `animal ${id}`;
  const animal = { id, name, categoryId: id === 6 ? Number.MIN_SAFE_INTEGER : id * 7 };
  return status === undefined ? animal : { ...animal, status };
});

/** The API keys of the fixture, in order. */
export const formatOneKeys = [
  {
    hash: 'first'.padEnd(43, '_'),
    name: 'first',
    createdAt: formatOneCreatedAt,
    revokedAt: formatOneCreatedAt + 2,
  },
  {
    hash: 'second'.padEnd(43, '_'),
    name: 'second',
    createdAt: formatOneCreatedAt + 1,
    expiresAt: formatOneCreatedAt + 86_400_000,
    lastUsedAt: formatOneCreatedAt + 3,
  },
];

/** Encodes an animal in the layout of formats 1 and 2, which `compactAnimal.ts` describes. */
export function encodeCompactAnimal({ id, name, categoryId, status }: Animal): Buffer {
  const row = Buffer.alloc(21 + Buffer.byteLength(name));
  row[4] = statuses.indexOf(status);
  row.writeDoubleLE(id, 5);
  row.writeDoubleLE(categoryId, 13);
  row.write(name, 21);
  return seal(row);
}

/** Creates a data folder of version 1.0.0: the file that it wrote, and additional animals in its format. */
export async function createFormatOne(dataDir: string, animals = formatOneAnimals.length): Promise<void> {
  await writeFixture(dataDir, 'format1.mdb.gz');
  if (animals === formatOneAnimals.length) return;
  const root = openLmdb({ path: join(dataDir, 'petstore.mdb'), noSubdir: true, overlappingSync: false });
  const meta = openTable<number | null, string>(root, 'meta', { encoder: jsonRow<number>() });
  const rows = openTable<Decoded<StoredRecord>, number>(root, 'animals', {
    encoder: { encode: encodeCompactAnimal, decode: decodeCompactAnimal },
    keyEncoder: idKey,
  });
  const ids = new Map(
    PetStatus.options.map((status) => [
      status,
      openTable<Buffer, number>(root, `animals.${status}`, { encoding: 'binary', keyEncoder: idKey }),
    ]),
  );
  root.transactionSync(() => {
    for (let id = formatOneAnimals.length + 1; id <= animals; id += 1) {
      const animal = furtherAnimal(id);
      put(rows, id, animal);
      if (animal.status !== undefined) ids.get(animal.status)?.putSync(id, Buffer.alloc(0));
    }
    put(meta, 'lastAnimalId', animals);
  });
  await root.close();
}

/** Creates a data folder with a file that an earlier version wrote. */
export async function writeFixture(dataDir: string, name: string): Promise<void> {
  const fixture = new URL(`fixtures/${name}`, import.meta.url);
  await mkdir(dataDir, { mode: 0o700 });
  await writeFile(join(dataDir, 'petstore.mdb'), gunzipSync(await readFile(fixture)), { mode: 0o600 });
}

/** Returns an animal that `createFormatOne` adds. */
export function furtherAnimal(id: number): Animal {
  const status = statuses[id % 4];
  const animal = { id, name: `further animal ${id}`, categoryId: id };
  return status === undefined ? animal : { ...animal, status };
}
