const { PETSTORE_TESTS } = process.env;
if (PETSTORE_TESTS !== undefined && PETSTORE_TESTS !== 'all' && PETSTORE_TESTS !== 'long') {
  throw new Error(`PETSTORE_TESTS is ${PETSTORE_TESTS}. Set it to all or long, or unset it.`);
}

/**
 * Whether tests that have a long form run it, and property tests have all inputs. All together they take hours, so they run
 * by hand: `npm run faults -w @petstore/faults`, or `PETSTORE_TESTS=long npx vitest run FILE`.
 */
export const longForm: boolean = PETSTORE_TESTS === 'long';

/** Cases run on every adapter and compiler: `PETSTORE_TESTS=all` (`.ci/run`). `npm test` has one adapter. */
export const everyForm: boolean = PETSTORE_TESTS !== undefined;

/** Inputs: `count` in the long form, a fifth with `all`; else `brief`, few if they are slow, or a fifth. */
export const inputs = (count: number, brief: number = Math.ceil(count / 5)): number =>
  longForm ? count : everyForm ? Math.ceil(count / 5) : brief;

/** Whether uWebSockets.js has a binary for this Node and system. Without one, its tests are skipped. */
export const hasUws: boolean = process.env['WITHOUT_UWS'] === undefined;

/** The adapters for Node that run on this system. */
export const nodeServers: readonly ('uws' | 'node')[] = hasUws ? ['uws', 'node'] : ['node'];
