import { setTimeout as sleep } from 'node:timers/promises';
import type { State } from 'trpc-gateway';
import { describe, expect, it, vi } from 'vitest';

/** Opens a new state; `reopen` opens the same state as another process would. */
export type OpenState = () => Promise<{ readonly state: State; readonly reopen: () => Promise<State> }>;

/** The contract suite of a `State`. @param tolerance by which fraction processes may stay below the limit */
export function describeState(name: string, openState: OpenState, { tolerance = 0 } = {}): void {
  describe(`the state ${name}`, () => {
    it('add stores a value under a new key only, and otherwise returns the existing value', async () => {
      const { state, reopen } = await openState();
      const other = await reopen();
      expect(await state.add('key', 'first', 60_000)).toBeUndefined();
      expect(await other.add('key', 'second', 60_000)).toBe('first');
      expect(await other.add('other', 'second', 60_000)).toBeUndefined();
    });

    it.each([
      ['a new key', async () => {}],
      [
        'a key that has expired',
        async (state: State) => {
          await state.add('key', 'expired', 1);
          await sleep(10);
        },
      ],
    ])('exactly one of many concurrent adds of %s stores its value', async (_what, prepare) => {
      const { state, reopen } = await openState();
      const states = [state, await reopen()];
      await prepare(state);
      const existing = await Promise.all(
        Array.from({ length: 40 }, async (_, at) => states[at % 2]?.add('key', String(at), 60_000)),
      );
      const stored = existing.flatMap((value, at) => (value === undefined ? [String(at)] : []));
      expect(stored).toHaveLength(1);
      expect(new Set(existing.filter((value) => value !== undefined))).toEqual(new Set(stored));
    });

    it('after the clock was set back by an hour, a caller waits for a window, not for an hour', async () => {
      const { state } = await openState();
      const take = () => state.take('caller', 1, { size: 2, windowMs: 300 });
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
      try {
        while ((await take()).isTaken);
      } finally {
        vi.useRealTimers();
      }
      await expect.poll(async () => (await take()).isTaken).toBe(true);
    });

    it('set replaces a value, and delete removes a key only if it has the given value', async () => {
      const { state, reopen } = await openState();
      const other = await reopen();
      await state.add('key', 'first', 60_000);
      await state.set('key', 'second', 60_000, 'ada');
      expect(await other.add('key', 'third', 60_000)).toBe('second');
      await other.delete('key', 'first');
      expect(await state.add('key', 'fourth', 60_000)).toBe('second');
      await other.delete('key', 'second');
      expect(await state.add('key', 'fourth', 60_000)).toBeUndefined();
      await state.delete('never-there', 'value');
    });

    it('a value expires after its TTL, and set replaces the TTL', async () => {
      const { state } = await openState();
      await state.add('short', 'first', 20);
      await state.add('kept', 'first', 20);
      await state.set('kept', 'second', 60_000, 'ada');
      await sleep(30);
      for (const key of ['a', 'b', 'c']) await state.add(key, key, 60_000);
      expect(await state.add('short', 'second', 60_000)).toBeUndefined();
      expect(await state.add('kept', 'third', 60_000)).toBe('second');
    });

    it('keys and values may be any strings, also long ones', async () => {
      const { state } = await openState();
      const long = 'ä'.repeat(20_000);
      for (const key of ['', '\u0000', long, `${long}2`, '$a.b']) {
        const value = JSON.stringify({ key, units: '\u0000\u00ff' });
        expect(await state.add(key, value, 60_000)).toBeUndefined();
        expect(await state.add(key, '', 60_000)).toBe(value);
      }
    });

    it('take takes all requested tokens or none, and returns how long to wait', async () => {
      const { state } = await openState();
      const bucket = { size: 10, windowMs: 10_000_000 };
      expect(await state.take('a', 7, bucket)).toMatchObject({ isTaken: true, left: 3, waitMs: 0 });
      const { waitMs, ...other } = await state.take('a', 4, bucket);
      expect(other).toMatchObject({ isTaken: false, left: 3 });
      expect(Math.round(waitMs / 10_000)).toBe(100);
      expect(await state.take('a', 0, bucket)).toMatchObject({ isTaken: true, left: 3 });
      expect(await state.take('b', 10, bucket)).toMatchObject({ isTaken: true, left: 0 });
      expect(await state.take('c', 11, bucket)).toMatchObject({ isTaken: false, left: 10 });
    });

    it('a bucket refills over its window', async () => {
      const { state } = await openState();
      const bucket = { size: 10, windowMs: 50 };
      expect(await state.take('a', 10, bucket)).toMatchObject({ isTaken: true });
      await expect.poll(async () => (await state.take('a', 10, bucket)).isTaken).toBe(true);
    });

    it('several processes take tokens from the same bucket', async () => {
      const { state, reopen } = await openState();
      const states = [state, await reopen(), await reopen(), await reopen()];
      const bucket = { size: 200, windowMs: 3_600_000 };
      const taken = await Promise.all(
        Array.from({ length: 400 }, async (_, at) => states[at % 4]?.take('a', 1, bucket)),
      );
      const accepted = taken.filter((each) => each?.isTaken).length;
      expect(accepted).toBeGreaterThanOrEqual(200 * (1 - tolerance));
      expect(accepted).toBeLessThanOrEqual(200);
    });
  });
}
