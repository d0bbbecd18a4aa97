/*
 * A service whose state fails in tests: `STATE=JSON node faultyService.ts`. It counts in memory how often each order ran.
 */
import { createGateway } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { run } from 'trpc-gateway-runtime';
import { log } from 'trpc-gateway-runtime/log';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { openTestState, type TestState } from './openTestState.ts';

const runs = new Map<string, number>();
const t = initTRPC.meta<GatewayMeta>().create();
const router = t.router({
  order: t.procedure
    .meta({ idempotencyKey: 'required', openapi: { method: 'POST', path: '/orders', successStatus: 201 } })
    .input(z.object({ text: z.string() }))
    .output(z.object({ run: z.int() }))
    .mutation(({ input: { text } }) => {
      const count = (runs.get(text) ?? 0) + 1;
      runs.set(text, count);
      return { run: count };
    }),
  runs: t.procedure.query(() => [...runs]),
});

await run({
  server: 'node',
  log: log({ level: 'info', requests: 'errors' }),
  async start({ options, onClose }) {
    const stateOptions: TestState = JSON.parse(process.env['STATE'] ?? '');
    const { state, close } = await openTestState(stateOptions);
    onClose(close);
    const gateway = await createGateway({
      ...options,
      router,
      createContext: () => ({}),
      document: { title: 'Orders', version: '0.0.0' },
      state,
      callTimeoutMs: 2000,
    });
    return { gateway };
  },
});
