/**
 * What the generators of these tests start from: another seed in each run, which is fast-check's too (`vitest.config.ts`). A
 * command that starts without one, such as `node fuzz.ts`, takes its own. `TEST_SEED` repeats a run.
 */
export const testSeed = Number(process.env['TEST_SEED'] ?? Math.trunc(Math.random() * 2 ** 31));

/** For the message of a failure. */
export const seedMessage = `TEST_SEED=${testSeed} repeats this run.`;
