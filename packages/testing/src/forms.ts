const { PETSTORE_TESTS } = process.env;
if (PETSTORE_TESTS !== undefined && PETSTORE_TESTS !== 'all' && PETSTORE_TESTS !== 'long') {
  throw new Error(`PETSTORE_TESTS is ${PETSTORE_TESTS}. Set it to all or long, or unset it.`);
}

/** Whether tests that have a long form run it. They take hours and run by hand: `npm run test:long`. */
export const longForm: boolean = PETSTORE_TESTS === 'long';

/**
 * Whether the same cases run on every host and with every compiler, and property tests as often as before a merge. `.ci/run`
 * sets `PETSTORE_TESTS=all`; `npm test` runs one host and fewer inputs.
 */
export const everyForm: boolean = PETSTORE_TESTS !== undefined;

/** How many inputs a property test tries: a fifth where not every form runs. */
export const inputs = (count: number): number => (everyForm ? count : Math.ceil(count / 5));
