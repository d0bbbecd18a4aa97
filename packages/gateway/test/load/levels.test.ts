import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { briefLevels, loadLevels } from './levels.ts';
import { startPetsUnderLoad } from './petsUnderLoad.ts';

it(
  'a server over its maximum throughput rejects the excess requests and serves the rest',
  // Retried: the generator shares the cores with other tests and may not reach the overload.
  { timeout: 60_000, retry: 3 },
  async () => {
    needs('a port');
    const { problems } = await loadLevels(() => startPetsUnderLoad(), briefLevels);
    expect(problems).toEqual([]);
  },
);
