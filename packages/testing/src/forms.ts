const { PETSTORE_TESTS } = process.env;
if (PETSTORE_TESTS !== undefined && PETSTORE_TESTS !== 'all' && PETSTORE_TESTS !== 'long') {
  throw new Error(`PETSTORE_TESTS is ${PETSTORE_TESTS}. Set it to all or long, or unset it.`);
}

/** Whether tests that have a long form run it. They take hours and run by hand: `npm run test:long -w @petstore/server`. */
export const longForm: boolean = PETSTORE_TESTS === 'long';

/**
 * Whether the same cases run on every adapter and with every compiler, and property tests with all inputs. `.ci/run`
 * sets `PETSTORE_TESTS=all`; `npm test` runs one adapter and fewer inputs.
 */
export const everyForm: boolean = PETSTORE_TESTS !== undefined;

/** Number of inputs of a property test: a fifth of `count` in the short form. */
export const inputs = (count: number): number => (everyForm ? count : Math.ceil(count / 5));
