import * as fc from 'fast-check';
import { writeSync } from 'node:fs';

const given = process.env['BAD_INPUT_SEED'];

/** What everything generated here follows from. `BAD_INPUT_SEED` in the environment replays a run. */
export const seed: number = given === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(given);

// At once and not through the test runner: should the process end, this is what is left to replay it by.
writeSync(2, `Bad input: BAD_INPUT_SEED=${seed} replays this run.\n`);

/** Values of a generator; the same ones under the same seed. */
export const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { seed, numRuns: count });
