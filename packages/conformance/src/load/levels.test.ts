import { expect, it } from 'vitest';
import { briefLevels, loadLevels } from './levels.ts';

it(
  'a server that is asked for more than it can answer refuses the excess and serves the rest',
  { timeout: 60_000 },
  async () => {
    const { faults } = await loadLevels(briefLevels);
    expect(faults).toEqual([]);
  },
);
