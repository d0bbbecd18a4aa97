const { TEST_SEED } = process.env;

/**
 * What the generators of these tests begin with: another seed each run. `TEST_SEED` in the environment repeats a run; it
 * is fast-check's seed too (`vitest.setup.ts`).
 */
export const testSeed: number =
  TEST_SEED === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(TEST_SEED);

/** For the message of what fails. */
export const repeatedBy = `TEST_SEED=${testSeed} repeats this run.`;
