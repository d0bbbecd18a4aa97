/*
 * `start.ts WHO COUNT`: creates a router of COUNT procedures and the server of `gateway` or `trpc` (its standalone adapter) for it.
 * Prints the processor time of that, from the start of the process, in milliseconds.
 */
import { initTRPC } from '@trpc/server';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import { createGateway, type GatewayMeta } from 'trpc-gateway';
import { z } from 'zod';
import { cpuMs } from './cpuMs.ts';

const [, , who, count] = process.argv;
const t = initTRPC.meta<GatewayMeta>().create();
const procedures = Object.fromEntries(
  Array.from({ length: Number(count) }, (_, index) => [
    `animal${index}`,
    t.procedure
      .meta({ openapi: { method: 'GET', path: `/animals${index}/{id}` } })
      .input(z.object({ id: z.int() }))
      .output(z.object({ id: z.int(), name: z.string() }))
      .query(({ input: { id } }) => ({ id, name: 'Rex' })),
  ]),
);
const router = t.router(procedures);
if (who === 'trpc') createHTTPHandler({ router });
else await createGateway({ router, createContext: () => ({}), document: { title: 'Start', version: '1' } });
process.stdout.write(String(cpuMs()));
process.exit(0);
