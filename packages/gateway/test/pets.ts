import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { z } from 'zod';

const Pet = z.object({ id: z.int(), name: z.string(), categoryId: z.int() });
type Pet = z.output<typeof Pet>;

const t = initTRPC.meta<GatewayMeta>().create();

/** Creates pets in memory, and a router that serves them. The suites do not depend on `core`. */
export function createPets() {
  const rows: Pet[] = [];
  return { router: petsRouter(rows), rows };
}

const petsRouter = (rows: Pet[]) =>
  t.router({
    listPets: t.procedure
      .meta({ openapi: { method: 'GET', path: '/pets' } })
      .input(
        z.object({ limit: z.int().min(1).max(100).default(20), status: z.string().optional() }).prefault({}),
      )
      .output(z.array(Pet))
      .query(({ input }) => rows.slice(0, input.limit)),
    createPet: t.procedure
      .meta({ openapi: { method: 'POST', path: '/pets', successStatus: 201 } })
      .input(z.object({ name: z.string().max(1000), categoryId: z.int() }))
      .output(Pet)
      .mutation(({ input }) => {
        const pet = { id: rows.length + 1, ...input };
        rows.push(pet);
        return pet;
      }),
    getPet: t.procedure
      .meta({ openapi: { method: 'GET', path: '/pets/{petId}' } })
      .input(z.object({ petId: z.int() }))
      .output(Pet)
      .query(({ input }) => {
        const pet = rows[input.petId - 1];
        if (pet === undefined) throw new TRPCError({ code: 'NOT_FOUND' });
        return pet;
      }),
  });
