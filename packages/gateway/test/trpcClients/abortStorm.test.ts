import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { testSeed } from '../testSeed.ts';
import { abortStorm, shortStorm } from './abortStorm.ts';

it('clients that disconnect at random moments leave no running call and no leaked memory in the gateway, and cause no warning of uWebSockets.js', async () => {
  needs('a port');
  const { problems } = await abortStorm({
    subject: 'gateway',
    seed: testSeed,
    aborts: inputs(shortStorm.aborts),
  });
  expect(problems, `TEST_SEED=${testSeed} repeats this run.`).toEqual([]);
});
