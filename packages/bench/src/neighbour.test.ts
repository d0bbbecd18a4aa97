import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { startNeighbour } from './neighbour.ts';

const isLinux = process.platform === 'linux';
if (!isLinux) process.stdout.write('SKIPPED: the neighbour: it is pinned to a core by taskset, of Linux.\n');

it.skipIf(!isLinux)('a neighbour uses its core during an action, and not before or after it', async () => {
  const neighbour = await startNeighbour();
  try {
    const used = async (action: () => Promise<unknown>) => {
      const before = await neighbour.processorSeconds();
      await action();
      return (await neighbour.processorSeconds()) - before;
    };
    const runs = () => vi.waitFor(async () => expect(await used(() => sleep(10))).toBeGreaterThan(0));
    const rests = () => vi.waitFor(async () => expect(await used(() => sleep(10))).toBe(0));
    await rests();
    await neighbour.during(runs);
    await rests();
  } finally {
    neighbour.stop();
  }
});
