import { everyForm } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { briefHeld, holdConnections } from './held.ts';
import { startPetsUnderLoad } from './petsUnderLoad.ts';

const options = everyForm ? briefHeld : { ...briefHeld, rounds: 1, seconds: 1 };

it(
  'a server with held connections, slow clients and silent clients serves other clients',
  { timeout: 60_000 },
  async () => {
    needs('a port');
    const { problems } = await holdConnections(() => startPetsUnderLoad(), options);
    expect(problems).toEqual([]);
  },
);
