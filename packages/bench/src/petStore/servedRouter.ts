import { appRouter as petStore } from '@petstore/core';
import type { GatewayMeta } from 'trpc-gateway';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { seededAnimals } from './animals.ts';
import { asyncRouter } from './asyncRouter.ts';
import { isAsync } from './resolvers.ts';

// What else the pet store takes from there.
export * from '@petstore/core';

const { mergeRouters, procedure, router } = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const animals = seededAnimals();

/** A stream of events, which the pet store itself has none of: one animal after the other. */
const watchPets = procedure
  .input(z.object({ count: z.int().min(1).max(1_000) }))
  .subscription(async function* ({ input }) {
    for (const animal of animals.slice(0, input.count)) yield animal;
  });

/** More procedures, each at a path of its own: what does a large router cost? */
const others = Object.fromEntries(
  Array.from({ length: Number(process.env['BENCH_MORE_PROCEDURES'] ?? 0) }, (_, index) => [
    `other${index}`,
    procedure
      .meta({ openapi: { method: 'GET', path: `/others/${index}/{id}` } })
      .input(z.object({ id: z.int() }))
      .output(z.object({ id: z.int() }))
      .query(({ input }) => input),
  ]),
);

/** What serves a tRPC router here serves this: the pet store's own procedures, or the same with async resolvers, and the stream. */
export const appRouter = mergeRouters(isAsync ? asyncRouter : petStore, router({ watchPets, ...others }));
