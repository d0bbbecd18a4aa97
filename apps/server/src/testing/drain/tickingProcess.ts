import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway } from '@petstore/gateway';
import type { GatewayMeta } from '@petstore/gateway/meta';
import { serve } from '@petstore/gateway/uws';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { drainDeadlineMs, stopOnSignals } from '../../stopOnSignals.ts';

// What the pet store has not: streams of events, and calls that take a while. It stops as the pet store does.
const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const Tick = z.object({ n: z.int(), padding: z.string() });

const gateway = await createGateway({
  router: t.router({
    ticks: t.procedure
      .meta({ openapi: { method: 'GET', path: '/ticks', event: Tick } })
      .subscription(async function* ({ signal }) {
        for (let n = 1; ; n += 1) {
          yield { n, padding: 'x'.repeat(Math.floor(Math.random() * 2_000)) };
          await sleep(Math.random() * 4, undefined, { signal });
        }
      }),
    wait: t.procedure.input(z.object({ name: z.string() })).mutation(async ({ input }) => {
      await sleep(Math.random() * 100);
      return input.name;
    }),
  }),
  createContext: () => ({}),
  document: { title: 'Ticks', version: '1.0.0' },
});
const host = await serve(gateway);
stopOnSignals(
  Promise.resolve({
    async close() {
      await host.close({ deadlineMs: drainDeadlineMs });
    },
  }),
);
process.stdout.write(`${JSON.stringify({ msg: 'listening', origin: `http://127.0.0.1:${host.port}` })}\n`);
