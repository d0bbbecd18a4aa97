import type { CollectionDefinition } from '../collection.ts';
import type { Collections } from './rows.ts';
import type { CommandOptions } from './operation.ts';

/** How long the tombstone of an idempotently created record keeps its id, in seconds. Longer than a reservation is valid. */
const TOMBSTONE_SECONDS = 90_000;

/** Creates missing indexes. Several processes may do so concurrently. */
export async function createIndexes(
  { keys, records, reservations }: Collections,
  definitions: readonly CollectionDefinition[],
  commandOptions: CommandOptions,
): Promise<void> {
  // Unique names and the first key depend on these indexes. The collection is small, so it is never sharded.
  await keys.createIndexes(
    [
      { key: { name: 1 }, unique: true },
      { key: { number: 1 }, unique: true },
    ],
    commandOptions,
  );
  await reservations.createIndexes(
    [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }, { key: { caller: 1, expiresAt: 1 } }],
    commandOptions,
  );
  // Last, because these may exceed the timeout.
  for (const { name, indexes } of definitions) {
    const wanted = Object.entries(indexes).map(([field, kind]) =>
      // Sparse: records without the field are not in a unique index.
      kind === 'unique'
        ? { key: { [field]: 1 }, unique: true, sparse: true }
        : { key: { [field]: 1, _id: 1 } },
    );
    const tombstones = {
      key: { _deletedAt: 1 },
      sparse: true,
      expireAfterSeconds: TOMBSTONE_SECONDS,
    } as const;
    await records(name).createIndexes([tombstones, ...wanted], commandOptions);
  }
}
