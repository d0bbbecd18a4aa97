import type { Collection } from 'mongodb';
import type { MaybePromise } from '../store.ts';
import { isDuplicate, type DatabaseLabel, storeError } from './errors.ts';
import type { CommandOptions, StoreOperation, OperationRunner } from './operation.ts';
import { type CounterRow, int64, type RecordRow } from './rows.ts';

/** How many ids one lease takes. Creates would queue on one document if each took its own. */
const BLOCK_SIZE = 64;

/** Ids that are left when fewer than this are in hand are followed by the next block before anybody waits for it. */
const REFILL_BELOW = 32;

/** After this time without a create the ids in hand are dropped, in milliseconds: an old id would come between new ones. */
const UNUSED_MS = 10_000;

/** Ids `next` to `last` are this process's. */
interface Block {
  next: number;
  readonly last: number;
}

/** What ids are taken from, and what they are given to. */
export interface CounterSource {
  /** The name of the collection. */
  readonly name: string;
  readonly records: Collection<RecordRow>;
  readonly counters: Collection<CounterRow>;
}

/**
 * Ids for the records of a collection, leased in blocks by one atomic `$inc`. They ascend within a process and are never given twice; a
 * lease whose answer was lost leaves a gap.
 */
export function openCounter(
  source: () => MaybePromise<CounterSource>,
  operations: OperationRunner,
  label: DatabaseLabel,
) {
  let blocks: Block[] = [];
  let leasing: Promise<void> | undefined;
  let usedAt = 0;

  function lease(): Promise<void> {
    leasing ??= operations.runInternal(takeBlock).finally(() => {
      leasing = undefined;
    });
    return leasing;
  }

  async function takeBlock(operation: StoreOperation): Promise<void> {
    const last = await increase(operation, await source(), BLOCK_SIZE);
    if (!Number.isSafeInteger(last)) throw storeError('damaged', label, 'the counter of ids is no integer');
    blocks.push({ next: last - BLOCK_SIZE + 1, last });
  }

  /** An id that is in hand. */
  function takeLeased(): number | undefined {
    const [block] = blocks;
    if (block === undefined) return undefined;
    const id = block.next++;
    if (block.next > block.last) blocks.shift();
    // Where this one fails, whoever needs the ids tries again and is told.
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
    /** The next id; a promise only where a block must be leased first. */
    take(): MaybePromise<number> {
      const now = performance.now();
      if (now - usedAt > UNUSED_MS) blocks = [];
      usedAt = now;
      return takeLeased() ?? leaseAndTake();
    },

    /** Makes the next ids greater than those of all stored records. Call it when a record has an id that was leased. */
    async skipPast(operation: StoreOperation, taken: number): Promise<void> {
      const last = await raiseCounter(operation.commandOptions, await source(), taken);
      blocks = blocks.filter(({ next }) => next > last);
    },
  };
}

export type Counter = ReturnType<typeof openCounter>;

/** The greatest id of a stored record; 0 without records. */
export async function greatestId(
  commandOptions: CommandOptions,
  records: Collection<RecordRow>,
): Promise<number> {
  const row = await records.findOne(
    { _id: { $gt: int64(0) } },
    { ...commandOptions, sort: { _id: -1 }, projection: { _id: 1 } },
  );
  return Number(row?._id ?? 0);
}

/**
 * Raises the counter to at least the greatest id of a stored record. It is behind where `counters` was restored from an
 * older moment than the records, or not at all.
 * @param minimum an id that is known to be taken, though a majority may not have confirmed its record yet
 */
export async function raiseCounter(
  commandOptions: CommandOptions,
  { name, records, counters }: CounterSource,
  minimum = 0,
): Promise<number> {
  const last = Math.max(minimum, await greatestId(commandOptions, records));
  if (last > 0) {
    await insertOrUpdate(() =>
      counters.updateOne({ _id: name }, { $max: { last: int64(last) } }, { ...commandOptions, upsert: true }),
    );
  }
  return last;
}

async function increase(
  operation: StoreOperation,
  { name, counters }: CounterSource,
  by: number,
): Promise<number> {
  const row = await insertOrUpdate(() =>
    counters.findOneAndUpdate(
      { _id: operation.trackSend(name) },
      { $inc: { last: int64(by) } },
      { ...operation.commandOptions, upsert: true, returnDocument: 'after' },
    ),
  );
  return Number(row?.last);
}

/** An upsert. Of two that insert the document at the same time the second finds it when it is repeated. */
async function insertOrUpdate<T>(upsert: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await upsert();
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}
