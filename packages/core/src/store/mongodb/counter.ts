import type { Collection } from 'mongodb';
import type { Awaitable } from '../store.ts';
import { isDuplicate, type Place, storeError } from './errors.ts';
import type { Operation, Operations } from './operation.ts';
import { type CounterRow, int64 } from './rows.ts';

/** How many ids one lease takes. Creates would queue on one document if each took its own. */
const BLOCK = 64;

/** Ids that are left when fewer than this are in hand are followed by the next block before anybody waits for it. */
const LOW = 32;

/** After this time without a create the ids in hand are dropped, in milliseconds: an old id would come between new ones. */
const UNUSED_MS = 10_000;

/** Ids `next` to `last` are this process's. */
interface Block {
  next: number;
  readonly last: number;
}

/**
 * Ids for animals, leased in blocks by one atomic `$inc`. They ascend within a process and are never given twice; a
 * lease whose answer was lost leaves a gap.
 */
export function openCounter(
  counters: () => Awaitable<Collection<CounterRow>>,
  operations: Operations,
  place: Place,
) {
  let blocks: Block[] = [];
  let leasing: Promise<void> | undefined;
  let usedAt = 0;

  function lease(): Promise<void> {
    leasing ??= operations.runOwn(takeBlock).finally(() => {
      leasing = undefined;
    });
    return leasing;
  }

  async function takeBlock(operation: Operation): Promise<void> {
    const last = await increase(operation, await counters(), BLOCK);
    if (!Number.isSafeInteger(last)) throw storeError('damaged', place, 'the counter of ids is no integer');
    blocks.push({ next: last - BLOCK + 1, last });
  }

  /** An id that is in hand. */
  function give(): number | undefined {
    const [block] = blocks;
    if (block === undefined) return undefined;
    const id = block.next++;
    if (block.next > block.last) blocks.shift();
    // Where this one fails, whoever needs the ids tries again and is told.
    if (left() < LOW) lease().catch(() => {});
    return id;
  }

  function left(): number {
    return blocks.reduce((sum, { next, last }) => sum + last - next + 1, 0);
  }

  async function wait(): Promise<number> {
    for (;;) {
      await lease();
      const id = give();
      if (id !== undefined) return id;
    }
  }

  return {
    /** The next id; a promise only where a block must be leased first. */
    take(): Awaitable<number> {
      const now = performance.now();
      if (now - usedAt > UNUSED_MS) blocks = [];
      usedAt = now;
      return give() ?? wait();
    },
  };
}

async function increase(operation: Operation, counters: Collection<CounterRow>, by: number): Promise<number> {
  for (;;) {
    try {
      const row = await counters.findOneAndUpdate(
        { _id: operation.sends('lastAnimalId') },
        { $inc: { last: int64(by) } },
        { ...operation.call, upsert: true, returnDocument: 'after' },
      );
      return Number(row?.last);
    } catch (error) {
      // Two that make the document at the same time: for the one that comes second it is there now.
      if (!isDuplicate(error)) throw error;
    }
  }
}
