import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { testSeed } from '../testSeed.ts';
import { abortStorm, shortStorm } from './abortStorm.ts';

it('clients that go away at any moment leave no call running and no memory behind', async () => {
  needs('a port');
  const { faults } = await abortStorm({
    subject: 'gateway',
    seed: testSeed,
    aborts: inputs(shortStorm.aborts),
  });
  expect(faults, `TEST_SEED=${testSeed} repeats this run.`).toEqual([]);
});
