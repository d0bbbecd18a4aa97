import type { CollectionDefinition } from '../collection.ts';
import { StoreError } from '../storeError.ts';
import type { DatabaseLabel } from './errors.ts';
import type { Collections } from './database.ts';
import type { CommandOptions, OperationRunner } from './operation.ts';
import { int64, type MetaRow, type ReservationRow } from './rows.ts';

/** Version of the storage format. Increment it for a change that older code cannot read, and add a migration to `MIGRATIONS`. */
const FORMAT = 2;

/** Number of reservations rewritten at once. */
const BATCH = 1_000;

/** Runs a part of a migration. Each `run` has the store's timeout. */
type Run = OperationRunner['runInternal'];

/**
 * Migrates a database from one format to the next. Not every server supports transactions, so each write is idempotent. If a
 * migration is interrupted, or two processes run it concurrently, the next start completes it.
 */
type Migration = (collections: Collections, run: Run) => Promise<void>;

/** Migrations by the format that they start from. */
const MIGRATIONS: Readonly<Record<number, Migration>> = {
  /** Format 1 had only animals: one counter, and reservations with an `animalId`. It had no `meta`. */
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
    // Last, because this counter marks a database of format 1.
    if (old !== null)
      await run(({ commandOptions }) => counters.deleteOne({ _id: 'lastAnimalId' }, commandOptions));
  },
};

/**
 * Reads the format and the collections of the database; `undefined` for a new database or one of format 1.
 * @throws {StoreError} `damaged` if it has a newer format, or a collection that this version does not know
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
      `The data in the database ${name} has format ${row.format}, but this version supports formats up to ${FORMAT}. Start a newer version, or choose another database.`,
    );
  }
  const isFormat1 =
    row === null && (await counters.findOne({ _id: 'lastAnimalId' }, commandOptions)) !== null;
  const presentNames = row?.collections ?? (isFormat1 ? ['animals'] : []);
  const unknown = presentNames.find((each) => definitions.every((definition) => definition.name !== each));
  if (unknown === undefined) return row ?? undefined;
  throw new StoreError(
    'damaged',
    `The data in the database ${name} has a collection "${unknown}" that this version does not know. Start the version that created it, or choose another database.`,
  );
}

/** Whether nothing was ever stored: the database has no `meta` and no data of format 1. */
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

/** Whether the format and the collections of the database are those of this version. */
export const isUpToDate = (row: MetaRow | undefined, definitions: readonly CollectionDefinition[]): boolean =>
  row?.format === FORMAT && definitions.every(({ name }) => row.collections.includes(name));

/**
 * Migrates the database to the format and the collections of this version. Indexes are created separately, at every start.
 * @returns a sentence for each change
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
  // Last: if it is not written, the next start runs the whole migration again.
  await run(({ commandOptions }) => writeMeta(collections, definitions, commandOptions));
  return done;
}

/** Stores the format and the collections of this version. */
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
