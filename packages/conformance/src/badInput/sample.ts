import { seedMessage, testSeed } from 'trpc-gateway-test';
import * as fc from 'fast-check';
import { writeSync } from 'node:fs';

// Synchronously and not through the test runner: if the process crashes, the seed is printed nevertheless.
writeSync(2, `Bad input: ${seedMessage}\n`);

/** Returns values of a generator: the same ones for the same seed. */
export const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { seed: testSeed, numRuns: count });
