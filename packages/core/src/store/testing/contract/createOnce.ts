import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Reservation } from '../../store.ts';
import { categories, contractReservations, petWith, storeErrorWith, type StoreTest } from './storeTest.ts';

/** Declares the cases about idempotent creates. */
export function createOnceCases(t: StoreTest): void {
  describe('createOnce', () => {
    const reservation = (more: Partial<Reservation> = {}): Reservation => ({
      caller: 'caller',
      key: 'key',
      ...more,
    });
    const count = async () => (await t.pets.list({ limit: 100 })).records.length;
    afterEach(() => void vi.useRealTimers());

    test('createOnce stores the animal, a retry returns it as a replay, and another input is rejected', async () => {
      const values = petWith({ status: 'sold' });
      const first = await t.pets.createOnce(values, reservation());
      expect(first).toEqual({ record: await t.pets.get(first.record.id), isReplay: false });
      const again = await t.pets.createOnce(values, reservation());
      expect(again).toEqual({ record: first.record, isReplay: true });
      const other = t.pets.createOnce({ ...values, name: 'Max' }, reservation());
      await expect(other).rejects.toEqual(storeErrorWith('key-reused'));
      expect(await count()).toBe(1);
      // JSON has no -0.
      const zero = () => t.pets.createOnce(petWith({ categoryId: -0 }), reservation({ key: 'zero' }));
      expect([await zero(), await zero()]).toMatchObject([{ isReplay: false }, { isReplay: true }]);
    });

    test('createOnce stores one animal for 50 concurrent calls with one key', async () => {
      const calls = Array.from({ length: 50 }, () => t.pets.createOnce(petWith(), reservation()));
      const created = await Promise.all(calls);
      expect(new Set(created.map(({ record }) => record.id)).size).toBe(1);
      expect(created.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
      expect(await count()).toBe(1);
    });

    test.for([
      { key: 'another' },
      { caller: 'another' },
      { caller: 'call', key: 'erkey' },
      { key: '~'.repeat(255) },
    ])('createOnce stores another animal under %j', async (more) => {
      await t.pets.createOnce(petWith(), reservation());
      expect(await t.pets.createOnce(petWith(), reservation(more))).toMatchObject({ isReplay: false });
      expect(await count()).toBe(2);
    });

    test('createOnce recognizes a retry for 24 hours and not longer', async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const { record } = await t.pets.createOnce(petWith(), reservation());
      vi.setSystemTime(Date.now() + 24 * 3_600_000 - 1);
      expect(await t.pets.createOnce(petWith(), reservation())).toEqual({ record, isReplay: true });
      vi.setSystemTime(Date.now() + 1);
      expect(await t.pets.createOnce(petWith(), reservation())).toMatchObject({ isReplay: false });
      expect(await t.pets.createOnce(petWith(), reservation())).toMatchObject({ isReplay: true });
      expect(await count()).toBe(2);
    });

    test('createOnce rejects a new key over the limit of a caller until its keys expire, also when the hour changes, but serves its retries and other callers', async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-22T10:30:00Z') });
      const started = Date.now();
      const once = (key: string) => t.pets.createOnce(petWith(), reservation({ key }));
      const rejected = (key: string) => once(key).catch((reason: unknown) => reason);
      const tooMany = storeErrorWith('too-many-reservations');
      for (let key = 1; key <= contractReservations; key++) await once(`key ${key}`);
      expect(await rejected('one more')).toEqual(tooMany);
      expect(await once('key 1')).toMatchObject({ isReplay: true });
      const ofOther = await t.pets.createOnce(petWith(), reservation({ caller: 'other' }));
      expect(ofOther).toMatchObject({ isReplay: false });
      await t.reopen();
      for (const minutes of [0, 29, 31, 60, 13 * 60, 24 * 60 - 1]) {
        vi.setSystemTime(started + minutes * 60_000);
        expect(await rejected('one more')).toEqual(tooMany);
      }
      expect(await count()).toBe(contractReservations + 1);
      const error = z.object({ retryAfterSeconds: z.int() }).parse(await rejected('one more'));
      // Reservations expire after 24 hours, and are counted per hour.
      expect(error.retryAfterSeconds).toBeLessThanOrEqual(3_600 + 60);
      vi.setSystemTime(Date.now() + error.retryAfterSeconds * 1_000);
      for (let key = 1; key <= contractReservations; key++) {
        expect(await once(`later key ${key}`)).toMatchObject({ isReplay: false });
      }
      expect(await rejected('one more')).toEqual(tooMany);
    });

    test('createOnce recognizes a retry with a key that expired and was used again, while expired keys are removed', async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const once = (key: string) => t.pets.createOnce(petWith(), reservation({ key }));
      for (let each = 1; each <= 10; each++) {
        await once(`key ${each}`);
        vi.setSystemTime(Date.now() + 1);
      }
      vi.setSystemTime(Date.now() + 24 * 3_600_000);
      const { record, isReplay } = await once('key 10');
      expect(isReplay).toBe(false);
      for (let each = 1; each <= 10; each++) {
        await once(`other key ${each}`);
        expect(await once('key 10')).toEqual({ record, isReplay: true });
      }
    });
  });

  describe('a retry of createOnce', () => {
    const reservation = { caller: 'caller', key: 'key' };

    test('a retry of createOnce returns the record as it was created after an update and a delete, and creates none', async () => {
      const { record } = await t.pets.createOnce(petWith(), reservation);
      const updated = await t.pets.update(record.id, { name: 'Max' });
      expect(await t.pets.createOnce(petWith(), reservation)).toEqual({ record, isReplay: true });
      expect((await t.pets.list({ limit: 10 })).records).toEqual([updated]);
      await t.pets.delete(record.id);
      expect(await t.pets.createOnce(petWith(), reservation)).toEqual({ record, isReplay: true });
      expect((await t.pets.list({ limit: 10 })).records).toEqual([]);
      expect(await t.pets.get(record.id)).toBeUndefined();
    });

    test('createOnce with values that the schema rejects does not use the key, which serves one collection', async () => {
      const invalid = t.pets.createOnce(petWith({ categoryId: 1.5 }), reservation);
      await expect(invalid).rejects.toEqual(storeErrorWith('invalid'));
      expect(await t.pets.createOnce(petWith(), reservation)).toMatchObject({ isReplay: false });
      const kinds = t.store.collection(categories);
      const other = kinds.createOnce({ name: 'Dogs' }, reservation);
      await expect(other).rejects.toEqual(storeErrorWith('key-reused'));
      expect((await kinds.list({ limit: 10 })).records).toEqual([]);
    });
  });
}
