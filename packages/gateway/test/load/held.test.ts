import { everyForm } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { briefHeld, holdConnections } from './held.ts';
import { startPetsUnderLoad } from './petsUnderLoad.ts';

const options = everyForm ? briefHeld : { ...briefHeld, rounds: 1, seconds: 1 };

it(
  'connections that are held, slow clients and silent ones keep nobody from being served',
  { timeout: 60_000 },
  async () => {
    needs('a port');
    const { faults } = await holdConnections(startPetsUnderLoad, options);
    expect(faults).toEqual([]);
  },
);
