/** `TEST_SEED`, set by `vitest.config.ts` for each run and fast-check, or random. Set it to repeat a run. */
export const testSeed = Number(process.env['TEST_SEED'] ?? Math.trunc(Math.random() * 2 ** 31));

/** Says in the message of a failure how to repeat the run. */
export const seedMessage = `TEST_SEED=${testSeed} repeats this run.`;
