/*
 * The service of the test of agents: `STATE=JSON FOLDER=PATH node toolService.ts`. It opens its state and listens on the
 * first message, so that it can wait until its predecessor is killed. Each order is a line of a file when it has run.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { serve } from 'trpc-gateway/node';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { openTestState, type TestState } from '../openTestState.ts';

// Exits with the test.
process.once('disconnect', () => process.exit());
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));

const effects = join(process.env['FOLDER'] ?? '', 'effects');
const stateOptions: TestState = JSON.parse(process.env['STATE'] ?? '');
const { state } = await openTestState(stateOptions);
const t = initTRPC.meta<GatewayMeta>().create();
const router = t.router({
  order: t.procedure
    .meta({ idempotencyKey: 'required', mcp: { description: 'Places an order.' } })
    .input(z.object({ text: z.string(), to: z.object({ city: z.string(), street: z.string() }) }))
    .output(z.object({ run: z.string() }))
    .mutation(async ({ input: { text } }) => {
      await sleep(Math.random() * 3);
      const run = randomUUID();
      appendFileSync(effects, `${text} ${run}\n`);
      await sleep(1);
      return { run };
    }),
  findOrder: t.procedure
    .meta({ mcp: { description: 'Returns the runs of an order.' } })
    .input(z.object({ text: z.string() }))
    .output(z.object({ runs: z.array(z.string()) }))
    .query(async ({ input: { text } }) => ({
      runs: (await readFile(effects, 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line.startsWith(`${text} `))
        .map((line) => line.slice(text.length + 1)),
    })),
});

const gateway = await createGateway({
  router,
  createContext: () => ({}),
  document: { title: 'Orders', version: '0.0.0' },
  mcp: mcp(),
  state,
  callTimeoutMs: 2000,
  onError: () => {},
});
const { port } = await serve(gateway);
process.send?.({ port });
