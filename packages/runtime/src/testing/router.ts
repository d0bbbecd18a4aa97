import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

const t = initTRPC.meta<GatewayMeta>().create();
const Note = z.object({ name: z.string() });

/** A router of notes, which it does not store. */
export const router = t.router({
  createNote: t.procedure
    .meta({ openapi: { method: 'POST', path: '/notes', successStatus: 201 } })
    .input(Note)
    .output(Note)
    .mutation(({ input }) => input),
  listNotes: t.procedure
    .meta({ openapi: { method: 'GET', path: '/notes' } })
    .input(z.object({ limit: z.int() }))
    .output(z.array(Note))
    .query(() => []),
});
