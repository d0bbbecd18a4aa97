import { appRouter as petStore } from '@petstore/core';
import { asyncRouter } from './asyncRouter.ts';

// What else the pet store takes from there.
export * from '@petstore/core';

/** The router of every contender that serves one: the pet store's own, or the same with async resolvers behind a middleware. */
export const appRouter = process.env['BENCH_RESOLVERS'] === undefined ? petStore : asyncRouter;
