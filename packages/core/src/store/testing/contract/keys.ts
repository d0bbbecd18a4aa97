import { describe, expect, test } from 'vitest';
import { keyRecord, storeErrorWith, type StoreTest } from './storeTest.ts';

export function keyCases(t: StoreTest): void {
  describe('keys', () => {
    test('keys.touch keeps the latest use, and keys.revoke the first revocation, also of an expired key', async () => {
      const fresh = keyRecord();
      await t.store.keys.add(fresh);
      // Without the optional fields.
      expect(Object.keys((await t.store.keys.find(fresh.hash)) ?? {}).toSorted()).toEqual(
        Object.keys(fresh).toSorted(),
      );
      const record = keyRecord({ name: 'deploy', expiresAt: 1_700_000_000_000 });
      await t.store.keys.add(record);
      expect(await t.store.keys.find(record.hash)).toEqual(record);
      for (const usedAt of [5, 9, 7]) await t.store.keys.touch(record.hash, usedAt);
      await t.store.keys.touch('unknown', 1);
      const marked = { ...record, lastUsedAt: 9, revokedAt: 8 };
      for (const revokedAt of [8, 10]) expect(await t.store.keys.revoke('deploy', revokedAt)).toEqual(marked);
      expect(await t.store.keys.revoke('unknown', 9)).toBeUndefined();
      expect(await t.store.keys.find('unknown')).toBeUndefined();
      expect(await t.store.keys.find(record.hash)).toEqual(marked);
      expect(await (await t.reopen()).keys.list()).toEqual([fresh, marked]);
    });

    test('keys.list returns keys in the order in which they were added', async () => {
      const records = ['b', 'c', 'a', 'Ä', '😀'.repeat(32), '\u0000'].map((label) =>
        keyRecord({ name: label, createdAt: 1 }),
      );
      for (const record of records) await t.store.keys.add(record);
      expect(await t.store.keys.list()).toEqual(records);
      expect(await (await t.reopen()).keys.list()).toEqual(records);
    });

    test('one of ten concurrent calls of keys.add with the same name succeeds, and none after its key was revoked', async () => {
      const add = () => t.store.keys.add(keyRecord({ name: 'deploy' }));
      const results = await Promise.allSettled(Array.from({ length: 10 }, add));
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(reasons).toEqual(Array.from({ length: 9 }, () => storeErrorWith('conflict')));
      expect(await t.store.keys.list()).toHaveLength(1);
      expect(await t.store.keys.addFirst(keyRecord())).toBe(false);
      const revoked = await t.store.keys.revoke('deploy', 5);
      await expect(add()).rejects.toEqual(storeErrorWith('conflict'));
      expect(await t.store.keys.list()).toEqual([revoked]);
    });

    test('keys.addFirst returns true for one of 20 concurrent calls and its retries, and false afterwards', async () => {
      const records = Array.from({ length: 20 }, () => keyRecord());
      const added = await Promise.all(records.map((record) => t.store.keys.addFirst(record)));
      expect(added.filter(Boolean)).toHaveLength(1);
      const first = records[added.indexOf(true)];
      expect(await t.store.keys.list()).toEqual([first]);
      expect(await t.store.keys.addFirst(keyRecord())).toBe(false);
      // A retry after a lost response.
      expect(await t.store.keys.addFirst(first ?? keyRecord())).toBe(true);

      await t.store.keys.revoke(first?.name ?? '', 5);
      expect(await t.store.keys.addFirst(keyRecord())).toBe(false);
      expect(await (await t.reopen()).keys.addFirst(keyRecord())).toBe(false);
      expect(await t.store.keys.list()).toHaveLength(1);
    });
  });
}
