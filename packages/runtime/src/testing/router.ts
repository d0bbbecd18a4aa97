import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

const t = initTRPC.context<{ readonly notes: string }>().meta<GatewayMeta>().create();
const Note = z.object({ name: z.string() });

/** A router with notes in a file. */
export const router = t.router({
  createNote: t.procedure
    .meta({ openapi: { method: 'POST', path: '/notes', successStatus: 201 } })
    .input(Note)
    .output(Note)
    .mutation(async ({ ctx, input }) => {
      await sleep(Math.random() * 5);
      appendFileSync(ctx.notes, `${input.name}\n`);
      return input;
    }),
  listNotes: t.procedure
    .meta({ openapi: { method: 'GET', path: '/notes' } })
    .input(z.object({ limit: z.int() }))
    .output(z.array(Note))
    .query(() => []),
});
