import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import { collections } from '../../../collections.ts';
import { Animal, animals, type NewPet, type PetStatus } from '../../../procedures/animals.ts';
import { type CollectionDefinition, defineCollection } from '../../collection.ts';
import type { Collection, KeyRecord, ListQuery, MaybePromise, Store, StoreOptions } from '../../store.ts';

/** Value of `maxReservations` for each store under test. */
export const contractReservations = 30;

/** Schema of a collection with features that `animals` lacks: versions, a unique index, an optional index, nested values. */
export const Category = z.object({
  id: z.int(),
  version: z.int(),
  name: z.string().min(1),
  kind: z.string().exactOptional(),
  size: z.number().exactOptional(),
  note: z.string().nullable().exactOptional(),
  tags: z.array(z.object({ tag: z.string() })).exactOptional(),
});
export type Category = z.output<typeof Category>;

export const categories = defineCollection({
  name: 'categories',
  schema: Category,
  id: 'sequence',
  indexes: [{ field: 'name', unique: true }, 'kind', 'size'],
});

/** The collections of a store under test, unless a test names others. */
export const contractCollections: readonly CollectionDefinition[] = [...collections, categories];

/** The animals of a later version, with another optional field and its index. */
export const animalsWithKennel = defineCollection({
  name: 'animals',
  schema: Animal.extend({ kennel: z.int().exactOptional() }),
  id: 'sequence',
  indexes: ['status', 'kennel'],
});

/** A collection that a later version adds. */
export const kennels = defineCollection({
  name: 'kennels',
  schema: z.object({ id: z.int(), size: z.int() }),
  id: 'sequence',
});

/** Opens the data of one test, which is empty at first. The stores that were opened before are closed. */
export type OpenStore = (options: StoreOptions) => Promise<Store>;

/** The store of the running test. */
export interface StoreTest {
  readonly capabilities: StoreCapabilities;
  store: Store;
  pets: Collection<Animal, 'status'>;
  /** Opens the data again, without closing a store. Default: with `contractCollections`. */
  openAgain(definitions?: readonly CollectionDefinition[], options?: object): Promise<Store>;
  /** Closes the store, and opens its data again. */
  reopen(): Promise<Store>;
  /** Replaces the data by new data. All stores are closed. */
  renew(): Promise<void>;
}

/** Differences between stores. Everything else in the port applies to all of them. */
export interface StoreCapabilities {
  /** Whether ids are 1, 2, 3 …, in the order in which animals were acknowledged, across all processes. */
  readonly gaplessIds: boolean;
}

/** Texts that a store may change by mistake. */
export const texts = [
  '',
  'a\u0000b\u0000',
  // An emoji of several code points.
  '👩‍🚒🐕‍🦺',
  // The same letter as NFC and as NFD.
  '\u00e9',
  'e\u0301',
  ' \r\n Rex\t ',
  '\ufeffRex',
  '\uffff\u{10ffff}',
  'כלב כלב',
  '__proto__',
  // 1 MB.
  'ü'.repeat(524_288),
];

export const petWith = (more: Partial<NewPet> = {}): NewPet => ({ name: 'Rex', categoryId: 1, ...more });

let keyCount = 0;
export const keyRecord = (more: Partial<KeyRecord> = {}): KeyRecord => {
  keyCount++;
  const hash = createHash('sha256').update(`key ${keyCount}`).digest('base64url');
  return { hash, name: `key ${keyCount}`, createdAt: 1_700_000_000_000 + keyCount, ...more };
};

/** Calls a method of the port. Turns a value into a promise and a throw into a rejection. */
export const promiseOf = async <T>(call: () => MaybePromise<T>): Promise<T> => call();

export const storeErrorWith = (code: string) => expect.objectContaining({ name: 'StoreError', code });

/** Reads all pages. */
export async function walk(store: Store, limit: number, status?: PetStatus): Promise<Animal[][]> {
  const pages: Animal[][] = [];
  for (let cursor: number | undefined; ; cursor = pages.at(-1)?.at(-1)?.id) {
    const { records, hasNext } = await store.collection(animals).list({ limit, where: { status }, cursor });
    pages.push(records);
    if (!hasNext) return pages;
  }
}

/** Returns the expected result of `list`, computed from an array in ascending order by id. */
export function expectedPage(
  all: readonly Animal[],
  { limit, where: { status } = {}, cursor }: ListQuery<Animal, 'status'>,
) {
  const matches = all.filter(
    (animal) =>
      (status === undefined || animal.status === status) && (cursor === undefined || animal.id > cursor),
  );
  return { records: matches.slice(0, limit), hasNext: matches.length > limit };
}
