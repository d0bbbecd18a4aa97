import type { Collection } from 'mongodb';
import type { MaybePromise } from '../store.ts';
import { isDuplicate, type DatabaseLabel, storeError } from './errors.ts';
import type { CommandOptions, StoreOperation, OperationRunner } from './operation.ts';
import { type Collections, int64, type RecordRow } from './rows.ts';

/** Number of ids per lease. If each create took its own id, all would wait for one document. */
const BLOCK_SIZE = 64;

/** With fewer leased ids than this, the next block is leased in advance. */
const REFILL_BELOW = 32;

/** Leased ids are dropped after this time without a create, in milliseconds, so that old ids do not mix with newer ones. */
const UNUSED_MS = 10_000;

/**
 * Opens the id counter of a collection. It leases ids in blocks, each with one atomic `$inc`. Ids ascend within a process and
 * are never reused. A lost response to a lease leaves a gap.
 */
export function openCounter(
  name: string,
  collections: () => MaybePromise<Collections>,
  operations: OperationRunner,
  label: DatabaseLabel,
) {
  /** Ids `next` to `last` of each are leased by this process. */
  let blocks: { next: number; readonly last: number }[] = [];
  let leasing: Promise<void> | undefined;
  let usedAt = 0;

  function lease(): Promise<void> {
    leasing ??= operations.runInternal(takeBlock).finally(() => {
      leasing = undefined;
    });
    return leasing;
  }

  async function takeBlock(operation: StoreOperation): Promise<void> {
    const last = await increase(operation, await collections(), name);
    if (!Number.isSafeInteger(last))
      throw storeError('damaged', label, 'the counter of ids is not an integer');
    blocks.push({ next: last - BLOCK_SIZE + 1, last });
  }

  /** Takes a leased id; `undefined` if none is left. */
  function takeLeased(): number | undefined {
    const [block] = blocks;
    if (block === undefined) return undefined;
    const id = block.next++;
    if (block.next > block.last) blocks.shift();
    // If this lease fails, the next create without an id leases again and gets the error.
    if (leasedCount() < REFILL_BELOW) lease().catch(() => {});
    return id;
  }

  function leasedCount(): number {
    return blocks.reduce((sum, { next, last }) => sum + last - next + 1, 0);
  }

  async function leaseAndTake(): Promise<number> {
    for (;;) {
      await lease();
      const id = takeLeased();
      if (id !== undefined) return id;
    }
  }

  return {
    /** Takes the next id. Returns a promise only if a block must be leased first. */
    take(): MaybePromise<number> {
      const now = performance.now();
      if (now - usedAt > UNUSED_MS) blocks = [];
      usedAt = now;
      return takeLeased() ?? leaseAndTake();
    },

    /** Raises the counter above the ids of all stored records. Call it if a leased id is taken by a record. */
    async skipPast(operation: StoreOperation, taken: number): Promise<void> {
      const last = await raiseCounter(operation.commandOptions, await collections(), name, taken);
      blocks = blocks.filter(({ next }) => next > last);
    },
  };
}

export type Counter = ReturnType<typeof openCounter>;

/** Returns the greatest id of a stored record; 0 if there are none. */
async function greatestId(commandOptions: CommandOptions, records: Collection<RecordRow>): Promise<number> {
  const row = await records.findOne(
    { _id: { $gt: int64(0) } },
    { ...commandOptions, sort: { _id: -1 }, projection: { _id: 1 } },
  );
  return Number(row?._id ?? 0);
}

/**
 * Raises the counter to the greatest stored id at least: `counters` may be of an older backup than the records, or missing.
 * @param minimum a taken id. The majority may not have confirmed its record yet
 * @returns the greatest taken id
 */
export async function raiseCounter(
  commandOptions: CommandOptions,
  { records, counters }: Collections,
  name: string,
  minimum = 0,
): Promise<number> {
  const last = Math.max(minimum, await greatestId(commandOptions, records(name)));
  if (last > 0) {
    await insertOrUpdate(() =>
      counters.updateOne({ _id: name }, { $max: { last: int64(last) } }, { ...commandOptions, upsert: true }),
    );
  }
  return last;
}

async function increase(operation: StoreOperation, { counters }: Collections, name: string): Promise<number> {
  const row = await insertOrUpdate(() =>
    counters.findOneAndUpdate(
      { _id: operation.trackSend(name) },
      { $inc: { last: int64(BLOCK_SIZE) } },
      { ...operation.commandOptions, upsert: true, returnDocument: 'after' },
    ),
  );
  return Number(row?.last);
}

/** Runs an upsert, and again if a concurrent one inserted the document first. */
async function insertOrUpdate<T>(upsert: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await upsert();
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}
