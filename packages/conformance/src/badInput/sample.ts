import { seedMessage, testSeed } from '@petstore/gateway-test';
import * as fc from 'fast-check';
import { writeSync } from 'node:fs';

// At once and not through the test runner: should the process end, this is what is left to repeat it by.
writeSync(2, `Bad input: ${seedMessage}\n`);

/** Values of a generator; the same ones under the same seed. */
export const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { seed: testSeed, numRuns: count });
