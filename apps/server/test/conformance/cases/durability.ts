import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../client.ts';
import type { Subject } from '../subject.ts';

/** Declares the case about stopping the server and starting it on the same data: docs/decisions.md#stores. */
export function durabilityCases(subject: Subject): void {
  it('docs/decisions.md#stores: a restart on the same folder keeps every animal unchanged and assigns no id twice', async () => {
    const dataDir = await temporaryFolder();
    const first = await subject.serve({ dataDir });
    const before = await connect(first);
    expect(await before.list()).toEqual([]);
    const stored = [
      await before.create({ name: 'Ada\0🐶', categoryId: Number.MIN_SAFE_INTEGER, status: 'sold' }),
      await before.create({ name: '' }),
      await before.create({ name: 'Ada', status: 'pending' }),
    ];
    await first.close();

    const second = await subject.serve({ dataDir });
    onTestFinished(() => second.close());
    const after = await connect(second);
    expect(await after.list()).toEqual(stored);
    expect(await after.list('?status=sold')).toEqual(stored.slice(0, 1));
    const created = await after.create({});
    expect(Math.max(...stored.map(({ id }) => id))).toBeLessThan(created.id);
    expect(await after.list()).toEqual([...stored, created]);
  });
}
