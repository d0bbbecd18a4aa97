import { describe, expect, test } from 'vitest';
import { animals } from '../../../procedures/animals.ts';
import type { MaybePromise } from '../../store.ts';
import { keyRecord, petWith, promiseOf, storeErrorWith, type StoreTest } from './storeTest.ts';

/** Declares the cases about calls that are aborted, and about `close`. */
export function endingCases(t: StoreTest): void {
  describe('an aborted signal', () => {
    const reason = new Error('aborted');
    const signal = AbortSignal.abort(reason);

    test('a call with an aborted signal fails with its reason, unless it returns at once, and stores nothing', async () => {
      const { id } = await t.pets.create(petWith());
      await expect(t.pets.create(petWith(), { signal })).rejects.toBe(reason);
      const reads = [
        t.pets.get(id, { signal }),
        t.pets.list({ limit: 1 }, { signal }),
        t.store.keys.find('hash', { signal }),
      ].filter((read) => read instanceof Promise);
      const failed = { status: 'rejected', reason };
      expect(await Promise.allSettled(reads)).toEqual(reads.map(() => failed));
      expect((await t.pets.list({ limit: 20 })).records).toHaveLength(1);
    });

    test('an abort during create rejects with its reason, or the create succeeds', async () => {
      const controller = new AbortController();
      const creates = Array.from({ length: 20 }, () =>
        t.pets.create(petWith(), { signal: controller.signal }),
      );
      controller.abort(reason);
      const results = await Promise.allSettled(creates);
      const stored = (await t.pets.list({ limit: 100 })).records;
      const created = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(stored).toEqual(expect.arrayContaining(created));
      expect(reasons.every((each) => each === reason)).toBe(true);
    });
  });

  describe('close', () => {
    test('close waits for unfinished writes', async () => {
      const creates = Array.from({ length: 50 }, () => t.pets.create(petWith()));
      await t.store.close({ timeoutMs: 60_000 });
      const created = await Promise.all(creates);
      const stored = (await (await t.openAgain()).collection(animals).list({ limit: 100 })).records;
      expect(stored).toEqual(created.toSorted((one, other) => one.id - other.id));
    });

    test('close can be called repeatedly, and calls after it fail with closed', async () => {
      await expect(promiseOf(() => t.store.ready())).resolves.toBeUndefined();
      await Promise.all([t.store.close(), t.store.close()]);
      await expect(t.store.close()).resolves.toBeUndefined();
      const calls: (() => MaybePromise<unknown>)[] = [
        () => t.pets.create(petWith()),
        () => t.pets.createOnce(petWith(), { caller: '', key: 'key' }),
        () => t.pets.get(1),
        () => t.pets.list({ limit: 1 }),
        () => t.pets.update(1, { name: 'Max' }),
        () => t.pets.delete(1),
        () => t.store.ready(),
        () => t.store.keys.find('hash'),
        () => t.store.keys.add(keyRecord()),
        () => t.store.keys.addFirst(keyRecord()),
        () => t.store.keys.list(),
        () => t.store.keys.revoke('name', 1),
        () => t.store.keys.touch('hash', 1),
      ];
      for (const call of calls) await expect(promiseOf(call)).rejects.toEqual(storeErrorWith('closed'));
    });
  });
}
