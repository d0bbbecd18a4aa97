import type { CollectionDefinition } from '../collection.ts';
import { StoreError } from '../storeError.ts';
import type { DatabaseLabel } from './errors.ts';
import type { CommandOptions } from './operation.ts';
import type { Collections, MetaRow } from './rows.ts';

/** Version of the storage format. Increment it for a change that older code cannot read. */
const FORMAT = 1;

/**
 * Reads the format and the collections of the database; `undefined` if it has no store.
 * @throws {StoreError} `damaged` if it has another format, or a collection that this version does not know
 */
export async function readMeta(
  { meta }: Collections,
  definitions: readonly CollectionDefinition[],
  { name }: DatabaseLabel,
  commandOptions: CommandOptions,
): Promise<MetaRow | undefined> {
  const row = await meta.findOne({ _id: 'store' }, commandOptions);
  if (row === null) return undefined;
  if (row.format !== FORMAT) {
    throw new StoreError(
      'damaged',
      `The data in the database ${name} has format ${row.format}, but this version supports format ${FORMAT}. Start the version that created it, or choose another database.`,
    );
  }
  const unknown = row.collections.find((each) => definitions.every((definition) => definition.name !== each));
  if (unknown === undefined) return row;
  throw new StoreError(
    'damaged',
    `The data in the database ${name} has a collection "${unknown}" that this version does not know. Start the version that created it, or choose another database.`,
  );
}

export const missingCollections = (row: MetaRow, definitions: readonly CollectionDefinition[]): string[] =>
  definitions.map(({ name }) => name).filter((name) => !row.collections.includes(name));

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
