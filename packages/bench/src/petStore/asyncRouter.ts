import { Animal, animals, appRouter, type Context, NewPet, PetId, Pets } from '@petstore/core';
import type { GatewayMeta } from 'trpc-gateway';
import { initTRPC, TRPCError } from '@trpc/server';
import { z } from 'zod';
import { ListInput } from './schemas.ts';

// Most routers have async resolvers behind a middleware, so the gateway is measured with these too (`BENCH_RESOLVERS`).

const { procedure, router } = initTRPC.context<Context>().meta<GatewayMeta>().create({ isDev: false });

const user = { name: 'bench' };

/** The promise that the middleware awaits, one that is resolved already. */
const findUser = async () => user;

/** An async middleware that adds to the context, as many routers have at the root of every procedure. */
const protectedProcedure = procedure.use(async ({ next }) => next({ ctx: { user: await findUser() } }));

const metaOf = ({ _def: { meta } }: { readonly _def: { readonly meta: unknown } }) => meta as GatewayMeta;

/** The pet store's procedures with async resolvers behind a middleware. */
export const asyncRouter = router({
  listPets: protectedProcedure
    .meta(metaOf(appRouter.listPets))
    .input(ListInput)
    .output(Pets)
    .query(async ({ ctx: { store, response }, input }) => {
      const { limit, cursor, status } = input;
      const page = await store.collection(animals).list({ limit, cursor, where: { status } });
      if (page.hasNext) response.nextCursor = page.records.at(-1)?.id;
      return page.records;
    }),
  createPet: protectedProcedure
    .meta(metaOf(appRouter.createPet))
    .input(NewPet)
    .output(Animal)
    .mutation(async ({ ctx: { store }, input }) => await store.collection(animals).create(input)),
  getPet: protectedProcedure
    .meta(metaOf(appRouter.getPet))
    .input(z.object({ petId: PetId }))
    .output(Animal)
    .query(async ({ ctx: { store }, input: { petId } }) => {
      const animal = await store.collection(animals).get(petId);
      if (animal) return animal;
      throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no animal with this id.' });
    }),
});
