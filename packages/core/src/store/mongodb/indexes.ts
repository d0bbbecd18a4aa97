import { MongoServerError } from 'mongodb';
import type { CollectionDefinition } from '../collection.ts';
import { StoreError } from '../storeError.ts';
import type { Collections } from './database.ts';
import type { CommandOptions } from './operation.ts';

/** Time between two checks of the indexes, in milliseconds. If all exist, a check takes three commands of about 1 ms. */
const INDEX_CHECK_MS = 5000;

/** Time between two checks after one that failed, in milliseconds. */
const RETRY_MS = 500;

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
    if (wanted.length > 0) await records(name).createIndexes(wanted, commandOptions);
  }
}

/** Recreates indexes that were dropped while the store was open. */
export class IndexCheck {
  readonly #create: (collections: Collections) => Promise<void>;
  #checkedAt = 0;
  #running: Promise<void> | undefined;
  #error: StoreError | undefined;

  constructor(create: (collections: Collections) => Promise<void>) {
    this.#create = create;
  }

  /** Records that the indexes have just been created. */
  markChecked(): void {
    this.#checkedAt = performance.now();
  }

  /**
   * Starts to create missing indexes, at most every 5 s, and does not wait for the result.
   * @returns why the last attempt could not create an index, or `undefined`
   */
  start(collections: Collections | undefined): StoreError | undefined {
    const pauseMs = this.#error === undefined ? INDEX_CHECK_MS : RETRY_MS;
    const isDue = performance.now() - this.#checkedAt >= pauseMs;
    if (collections !== undefined && this.#running === undefined && isDue) {
      this.markChecked();
      this.#running = this.#recreate(collections).finally(() => {
        this.#running = undefined;
      });
    }
    return this.#error;
  }

  async #recreate(collections: Collections): Promise<void> {
    try {
      await this.#create(collections);
      this.#error = undefined;
    } catch (error) {
      // Ignored if the database is unavailable or an index build exceeds the timeout: the next check continues.
      if (error instanceof StoreError && error.cause instanceof MongoServerError) this.#error = error;
    }
  }
}
