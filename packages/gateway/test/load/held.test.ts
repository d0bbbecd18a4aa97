import { expect, it } from 'vitest';
import { briefHeld, holdConnections } from './held.ts';
import { startPetsUnderLoad } from './petsUnderLoad.ts';

it(
  'connections that are held, slow clients and silent ones keep nobody from being served',
  { timeout: 60_000 },
  async () => {
    const { faults } = await holdConnections(startPetsUnderLoad, briefHeld);
    expect(faults).toEqual([]);
  },
);
