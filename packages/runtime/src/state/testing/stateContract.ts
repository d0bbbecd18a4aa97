import { setTimeout as sleep } from 'node:timers/promises';
import type { State } from '@petstore/gateway';
import { describe, expect, it } from 'vitest';

/** Opens a state that was never used; `again` opens the same as another process would. */
export type OpenState = () => Promise<{ readonly state: State; readonly again: () => Promise<State> }>;

/**
 * What idempotency keys and limits need of every state.
 * @param tolerance how much less than the limit several processes may take, as a part of it
 */
export function describeState(name: string, openState: OpenState, { tolerance = 0 } = {}): void {
  describe(`the state ${name}`, () => {
    it('add stores a value under a new key alone, and returns the one that is there', async () => {
      const { state, again } = await openState();
      const other = await again();
      expect(await state.add('key', 'first', 60_000)).toBeUndefined();
      expect(await other.add('key', 'second', 60_000)).toBe('first');
      expect(await other.add('other', 'second', 60_000)).toBeUndefined();
    });

    it('of many that add the same key at once exactly one stores its value', async () => {
      const { state, again } = await openState();
      const states = [state, await again()];
      const found = await Promise.all(
        Array.from({ length: 40 }, async (_, at) => states[at % 2]?.add('key', String(at), 60_000)),
      );
      const stored = found.flatMap((value, at) => (value === undefined ? [String(at)] : []));
      expect(stored).toHaveLength(1);
      expect(new Set(found.filter((value) => value !== undefined))).toEqual(new Set(stored));
    });

    it('set replaces a value, and delete removes it', async () => {
      const { state, again } = await openState();
      const other = await again();
      await state.add('key', 'first', 60_000);
      await state.set('key', 'second', 60_000);
      expect(await other.add('key', 'third', 60_000)).toBe('second');
      await other.delete('key');
      expect(await state.add('key', 'fourth', 60_000)).toBeUndefined();
      await state.delete('never-there');
    });

    it('a value expires, and the time of a replaced one counts no longer', async () => {
      const { state } = await openState();
      await state.add('short', 'first', 20);
      await state.add('kept', 'first', 20);
      await state.set('kept', 'second', 60_000);
      await sleep(30);
      for (const key of ['a', 'b', 'c']) await state.add(key, key, 60_000);
      expect(await state.add('short', 'second', 60_000)).toBeUndefined();
      expect(await state.add('kept', 'third', 60_000)).toBe('second');
    });

    it('keys and values are any texts, also long ones', async () => {
      const { state } = await openState();
      const long = 'ä'.repeat(20_000);
      for (const key of ['', '\u0000', long, `${long}2`, '$a.b']) {
        const value = JSON.stringify({ key, units: '\u0000\u00ff' });
        expect(await state.add(key, value, 60_000)).toBeUndefined();
        expect(await state.add(key, '', 60_000)).toBe(value);
      }
    });

    it('take gives all that is asked for or nothing, and says how long to wait', async () => {
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

    it('a bucket fills again', async () => {
      const { state } = await openState();
      const bucket = { size: 10, windowMs: 50 };
      expect(await state.take('a', 10, bucket)).toMatchObject({ isTaken: true });
      await expect.poll(async () => (await state.take('a', 10, bucket)).isTaken).toBe(true);
    });

    it('processes take from one bucket', async () => {
      const { state, again } = await openState();
      const states = [state, await again(), await again(), await again()];
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
