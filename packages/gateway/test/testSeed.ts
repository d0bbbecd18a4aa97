/**
 * The seed of the generators in these tests: `TEST_SEED`, or a random one. `vitest.config.ts` sets `TEST_SEED` for each run, and
 * fast-check uses the same seed. A command such as `node fuzz.ts` draws its own. Set `TEST_SEED` to repeat a run.
 */
export const testSeed = Number(process.env['TEST_SEED'] ?? Math.trunc(Math.random() * 2 ** 31));

/** Says in the message of a failure how to repeat the run. */
export const seedMessage = `TEST_SEED=${testSeed} repeats this run.`;
