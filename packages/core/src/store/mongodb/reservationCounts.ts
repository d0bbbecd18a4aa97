import type { Collection } from 'mongodb';
import { tooManyReservations } from '../record.ts';
import type { OperationRunner, StoreOperation } from './operation.ts';
import type { ReservationRow } from './rows.ts';

/**
 * How often reservations are counted in the database, in milliseconds; it takes 50 ms at the limit. In between, a process
 * adds its own, so a caller may exceed the limit by those that other processes create.
 */
const RECOUNT_MS = 60_000;

/** As `RECOUNT_MS`, for a caller that has reached the limit. */
const RECOUNT_AT_LIMIT_MS = 1_000;

/** Number of a caller's unexpired reservations. */
interface ReservationCount {
  count: number;
  countedAt: number;
  /** Pending count, shared by all creates of the caller. */
  counting: Promise<void> | undefined;
}

/** Limits the number of unexpired idempotency keys of each caller. */
export function countReservations(
  rows: Collection<ReservationRow>,
  operations: OperationRunner,
  limit: number,
) {
  const counts = new Map<string, ReservationCount>();

  /** Counts a caller's reservations. Those that this process creates meanwhile may be missing until the next count. */
  async function recount(caller: string, callerCount: ReservationCount, now: number): Promise<void> {
    // A separate operation, because other creates wait for it too, and the caller of this one may abort.
    callerCount.count = await operations.runInternal((operation) =>
      rows.countDocuments(unexpiredFilter(operation, caller, now), { ...operation.commandOptions, limit }),
    );
    callerCount.countedAt = now;
  }

  return {
    /** Checks that a caller may use another key, or has it. @throws {StoreError} `too-many-reservations` */
    async check(operation: StoreOperation, _id: string, caller: string): Promise<void> {
      const now = Date.now();
      const callerCount = counts.get(caller) ?? { count: 0, countedAt: -Infinity, counting: undefined };
      counts.set(caller, callerCount);
      const isFull = callerCount.count >= limit;
      if (Math.abs(now - callerCount.countedAt) >= (isFull ? RECOUNT_AT_LIMIT_MS : RECOUNT_MS)) {
        callerCount.counting ??= recount(caller, callerCount, now).finally(() => {
          callerCount.counting = undefined;
        });
        await callerCount.counting;
      }
      if (callerCount.count < limit) return;
      const existing = await rows.findOne({ _id: operation.trackSend(_id) }, operation.commandOptions);
      if (existing !== null && existing.expiresAt.getTime() > now) return;
      const oldest = await rows.findOne(unexpiredFilter(operation, caller, now), {
        ...operation.commandOptions,
        sort: { expiresAt: 1 },
      });
      throw tooManyReservations(limit, (oldest?.expiresAt.getTime() ?? now) - now);
    },

    /** Counts a reservation that this process has just written. */
    add(caller: string): void {
      const callerCount = counts.get(caller);
      if (callerCount !== undefined) callerCount.count += 1;
    },
  };
}

export type ReservationCounts = ReturnType<typeof countReservations>;

const unexpiredFilter = (operation: StoreOperation, caller: string, now: number) => ({
  caller: operation.trackSend(caller),
  expiresAt: { $gt: new Date(now) },
});
