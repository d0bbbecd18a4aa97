import { appRouter as petStore } from '@petstore/core';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { seededAnimals } from './animals.ts';
import { asyncRouter } from './asyncRouter.ts';

// What else the pet store takes from there.
export * from '@petstore/core';

const isAsync = process.env['BENCH_RESOLVERS'] !== undefined;
const { mergeRouters, procedure, router } = initTRPC.create({ isDev: false });
const animals = seededAnimals();

/** A stream of events, which the pet store itself has none of: one animal after the other. */
const watchPets = procedure
  .input(z.object({ count: z.int().min(1).max(1_000) }))
  .subscription(async function* ({ input }) {
    for (const animal of animals.slice(0, input.count)) yield animal;
  });

/** What serves a tRPC router here serves this: the pet store's own procedures, or the same with async resolvers, and the stream. */
export const appRouter = mergeRouters(isAsync ? asyncRouter : petStore, router({ watchPets }));
