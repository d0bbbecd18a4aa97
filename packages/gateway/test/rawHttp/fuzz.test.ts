import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { seedMessage, testSeed } from '../testSeed.ts';
import { fuzz } from './fuzz.ts';

const count = inputs(3000);

it('what chance makes of good requests is never run but where a strict reader finds it', async () => {
  needs('a port');
  const { faults, counts } = await fuzz(testSeed, count);
  process.stdout.write(`Fuzzed raw HTTP: ${count}: ${JSON.stringify(counts)}\n`);
  expect(faults.slice(0, 5), `${faults.length} of ${count}; ${seedMessage}`).toEqual([]);
  // Both kinds are reached.
  expect(counts['served all']).toBeGreaterThan(count / 5);
  expect(counts['answers of ours']).toBeGreaterThan(count / 5);
}, 60_000);
