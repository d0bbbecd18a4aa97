import { adapters } from '../../server/testing/dial.ts';

/** Serves for the running test. */
export const { listen } = adapters[0];
