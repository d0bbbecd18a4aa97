import type { Animal } from '../../../procedures/animals.ts';
import { formatOneAnimals, writeFixture } from './formatOne.ts';

/** The animals in `fixtures/format2.mdb.gz`. Its API keys and its time are those of `formatOne.ts`. */
export const formatTwoAnimals: readonly Animal[] = [
  ...formatOneAnimals,
  { id: 29, name: 'changed', categoryId: 4, status: 'pending' },
];

/** The creates of the fixture with idempotency keys, `key 1` to `key 5`. Animal 29 was changed since, and 30 deleted. */
export const formatTwoCreates: readonly Animal[] = [
  ...formatOneAnimals.slice(25),
  { id: 29, name: 'once 4', categoryId: 4 },
  { id: 30, name: 'once 5', categoryId: -5, status: 'available' },
];

/** Creates a data folder of format 2, with the file that the last version of that format wrote. */
export const createFormatTwo = (dataDir: string) => writeFixture(dataDir, 'format2.mdb.gz');
