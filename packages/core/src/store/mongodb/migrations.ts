import type { CollectionDefinition } from '../collection.ts';
import { StoreError } from '../storeError.ts';
import type { DatabaseLabel } from './errors.ts';
import type { Collections } from './database.ts';
import type { CommandOptions, OperationRunner } from './operation.ts';
import { int64, type MetaRow, type ReservationRow } from './rows.ts';

/** The layout of what is stored. A change that older code cannot read counts it up, and adds a step to `STEPS`. */
const FORMAT = 2;

/** How many reservations are rewritten at once. */
const BATCH = 1_000;

/** Where a step runs: each `run` is bounded by the store's time limit. */
type Run = OperationRunner['runInternal'];

/**
 * A step from one format to the next. There is no transaction on every server, so each of its writes changes nothing when
 * it is done again: one that was interrupted, or that two processes do at once, is completed by the next start.
 */
type Migration = (collections: Collections, run: Run) => Promise<void>;

/** By the format from which they start. */
const MIGRATIONS: Readonly<Record<number, Migration>> = {
  /** Format 1 knew animals alone: one counter, and reservations that named an `animalId`. It had no `meta`. */
  async 1({ counters, reservations }, run) {
    const old = await run(({ commandOptions }) => counters.findOne({ _id: 'lastAnimalId' }, commandOptions));
    if (old !== null) {
      await run(({ commandOptions }) =>
        counters.updateOne(
          { _id: 'animals' },
          { $max: { last: int64(Number(old.last)) } },
          { ...commandOptions, upsert: true },
        ),
      );
    }
    for (let last = ''; ;) {
      const page = await run(({ commandOptions }) =>
        reservations
          .find({ _id: { $gt: last } }, { ...commandOptions, sort: { _id: 1 }, limit: BATCH })
          .toArray(),
      );
      const end = page.at(-1);
      if (end === undefined) break;
      const writes = page.flatMap((row: ReservationRow & { readonly animalId?: unknown }) => {
        const { animalId, ...rest } = row;
        if (animalId === undefined) return [];
        const replacement = { ...rest, collection: 'animals', recordId: int64(Number(animalId)) };
        return [{ replaceOne: { filter: { _id: row._id }, replacement } }];
      });
      if (writes.length > 0) {
        await run(({ commandOptions }) =>
          reservations.bulkWrite(writes, { ...commandOptions, ordered: false }),
        );
      }
      last = end._id;
    }
    // Last: it says that the rest is to be done.
    if (old !== null)
      await run(({ commandOptions }) => counters.deleteOne({ _id: 'lastAnimalId' }, commandOptions));
  },
};

/**
 * What the database holds; `undefined` for a new one, and one of format 1.
 * @throws {StoreError} `damaged` for a format, or a collection, that only another version knows
 */
export async function readMeta(
  { counters, meta }: Collections,
  definitions: readonly CollectionDefinition[],
  { name }: DatabaseLabel,
  commandOptions: CommandOptions,
): Promise<MetaRow | undefined> {
  const row = await meta.findOne({ _id: 'store' }, commandOptions);
  if (row !== null && row.format > FORMAT) {
    throw new StoreError(
      'damaged',
      `The data in the database ${name} has format ${row.format} and this version knows ${FORMAT} at most: start a newer version, or choose another database.`,
    );
  }
  const isFormat1 =
    row === null && (await counters.findOne({ _id: 'lastAnimalId' }, commandOptions)) !== null;
  const presentNames = row?.collections ?? (isFormat1 ? ['animals'] : []);
  const unknown = presentNames.find((each) => definitions.every((definition) => definition.name !== each));
  if (unknown === undefined) return row ?? undefined;
  throw new StoreError(
    'damaged',
    `The data in the database ${name} has a collection "${unknown}" that this version does not know: start the version that made it, or choose another database.`,
  );
}

/** Whether nothing was ever stored: there is no `meta`, and nothing of format 1. */
export async function isNew(
  { counters, keys, meta, records }: Collections,
  commandOptions: CommandOptions,
): Promise<boolean> {
  const lookups = [
    meta.findOne({}, commandOptions),
    counters.findOne({}, commandOptions),
    keys.findOne({}, commandOptions),
  ];
  return (await Promise.all([...lookups, records('animals').findOne({}, commandOptions)])).every(
    (row) => row === null,
  );
}

/** Whether the database has the format and the collections of this version. */
export const isUpToDate = (row: MetaRow | undefined, definitions: readonly CollectionDefinition[]): boolean =>
  row?.format === FORMAT && definitions.every(({ name }) => row.collections.includes(name));

/**
 * Brings the database to the format and the collections of this version; their indexes are made at every start.
 * @returns what was done, in sentences
 */
export async function bringUpToDate(
  collections: Collections,
  row: MetaRow | undefined,
  definitions: readonly CollectionDefinition[],
  { name }: DatabaseLabel,
  run: Run,
): Promise<string[]> {
  const done: string[] = [];
  for (let from = row?.format ?? 1; from < FORMAT; from += 1) {
    await MIGRATIONS[from]?.(collections, run);
    done.push(`Migrated the data in the database ${name} from format ${from} to ${from + 1}.`);
  }
  const known = row?.collections ?? ['animals'];
  for (const definition of definitions) {
    if (!known.includes(definition.name))
      done.push(`Added the collection ${definition.name} to the database ${name}.`);
  }
  // Last: until it is written, the next start does all of it again.
  await run(({ commandOptions }) => writeMeta(collections, definitions, commandOptions));
  return done;
}

/** Writes that the database has the format and the collections of this version. */
export async function writeMeta(
  { meta }: Collections,
  definitions: readonly CollectionDefinition[],
  commandOptions: CommandOptions,
): Promise<void> {
  await meta.updateOne(
    { _id: 'store' },
    {
      $max: { format: FORMAT },
      $addToSet: { collections: { $each: definitions.map((definition) => definition.name) } },
    },
    { ...commandOptions, upsert: true },
  );
}
