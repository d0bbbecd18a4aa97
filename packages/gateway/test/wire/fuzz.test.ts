import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { seedMessage, testSeed } from '../testSeed.ts';
import { fuzz } from './fuzz.ts';

const count = inputs(3000);

it('a server runs only those requests in randomly mutated bytes that a strict reader finds', async () => {
  needs('a port');
  const { problems, counts } = await fuzz(testSeed, count);
  process.stdout.write(`Fuzzed raw HTTP: ${count}: ${JSON.stringify(counts)}\n`);
  expect(problems.slice(0, 5), `${problems.length} of ${count}; ${seedMessage}`).toEqual([]);
  // Enough mutations are valid requests, and enough reach the gateway.
  expect(counts['served all']).toBeGreaterThan(count / 5);
  expect(counts['responses of the gateway']).toBeGreaterThan(count / 5);
});
