/*
 * The service of the crash test: `node keyedService.ts FOLDER`. It opens its files and listens on the first message, so that
 * it can wait until its predecessor is killed.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway, type ResponseControls } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { serve } from 'trpc-gateway/node';
import { initTRPC } from '@trpc/server';
import { open } from 'lmdb';
import { z } from 'zod';
import { folderState } from '../../folder.ts';

const folder = process.argv[2] ?? '';

/** An order of a client. It must run once. */
export interface Order {
  readonly text: string;
  /** A unique id of the run. */
  readonly run: string;
}

interface Context {
  readonly key: string | undefined;
  readonly response: ResponseControls;
}

// Exits with the test.
process.once('disconnect', () => process.exit());
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));

const state = folderState({ path: join(folder, 'state') });
const orders = open<Order, string>({ path: join(folder, 'orders.mdb'), overlappingSync: false });
const t = initTRPC.context<Context>().meta<GatewayMeta>().create();
const Text = z.object({ text: z.string() });
const Ran = z.object({ text: z.string(), run: z.string() });
const router = t.router({
  /** Has an external effect, and the gateway stores the response. */
  policy: t.procedure
    .meta({ idempotencyKey: 'required', openapi: { method: 'POST', path: '/policy', successStatus: 201 } })
    .input(Text)
    .output(Ran)
    .mutation(async ({ input: { text } }) => {
      await sleep(Math.random() * 3);
      const run = randomUUID();
      appendFileSync(join(folder, 'effects'), `${text} ${run}\n`);
      await sleep(1);
      return { text, run };
    }),
  /** Stores the key and the order in one transaction. */
  transactional: t.procedure
    .meta({
      idempotencyKey: 'handled',
      openapi: { method: 'POST', path: '/transactional', successStatus: 201 },
    })
    .input(Text)
    .output(Ran)
    .mutation(async ({ ctx: { key = '', response }, input: { text } }) => {
      const order: Order = { text, run: randomUUID() };
      const stored = await orders.transaction(() => {
        const existing = orders.get(key);
        if (existing === undefined) orders.putSync(key, order);
        return existing;
      });
      await sleep(1);
      if (stored) response.replayed();
      return stored ?? order;
    }),
  /** Returns every stored order. */
  orders: t.procedure.query(() => Array.from(orders.getRange(), ({ value }) => value)),
});

const gateway = await createGateway({
  router,
  createContext: ({ idempotencyKey, response }) => ({ key: idempotencyKey, response }),
  document: { title: 'Orders', version: '0.0.0' },
  state,
  callTimeoutMs: 5000,
});
const { port } = await serve(gateway);
process.send?.({ port });
