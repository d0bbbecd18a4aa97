import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

const t = initTRPC.context<{ readonly notes: string }>().meta<GatewayMeta>().create();
const Note = z.object({ name: z.string() });
const Tick = z.object({ n: z.int(), padding: z.string() });

/** A router with notes in a file, and event streams. */
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
  ticks: t.procedure
    .meta({ openapi: { method: 'GET', path: '/ticks', event: Tick } })
    .subscription(async function* ({ signal }) {
      for (let n = 1; ; n += 1) {
        yield { n, padding: 'x'.repeat(Math.floor(Math.random() * 2_000)) };
        await sleep(Math.random() * 4, undefined, { signal });
      }
    }),
});
