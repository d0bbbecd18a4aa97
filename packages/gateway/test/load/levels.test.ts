import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { briefLevels, loadLevels } from './levels.ts';
import { startPetsUnderLoad } from './petsUnderLoad.ts';

it(
  'a server that is asked for more than it can answer refuses the excess and serves the rest',
  // The generator shares the cores with other tests, which may keep it from asking for too much: then it tries again.
  { timeout: 60_000, retry: 3 },
  async () => {
    needs('a port');
    const { faults } = await loadLevels(startPetsUnderLoad, briefLevels);
    expect(faults).toEqual([]);
  },
);
