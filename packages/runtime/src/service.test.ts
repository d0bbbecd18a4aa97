import { createGateway, memoryState, type State } from '@petstore/gateway';
import type { GatewayMeta } from '@petstore/gateway/meta';
import { initTRPC } from '@trpc/server';
import { expect, test, vi } from 'vitest';
import { startService } from './service.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const router = t.router({ pay: t.procedure.meta({ idempotencyKey: true }).mutation(() => 'paid') });

test.each<[what: string, idempotency: { state: State } | undefined, warnings: unknown[]]>([
  [
    'logs a warning if idempotency keys have no shared state',
    undefined,
    [[expect.stringMatching(/^idempotency keys are in the memory of each worker/)]],
  ],
  ['logs no warning if idempotency keys have a shared state', { state: memoryState() }, []],
])('the first worker %s', async (_, idempotency, warnings) => {
  const warn = vi.fn<(fields: unknown, message?: string) => void>();
  const log = { info() {}, warn, error() {}, fatal() {} };
  const service = await startService(
    {
      server: 'node',
      log: { open: () => ({ log, end: async () => {} }) },
      start: async ({ options }) => ({
        gateway: await createGateway({
          ...options,
          router,
          createContext: () => ({}),
          document: { title: 'Payments', version: '1.0.0' },
          ...(idempotency && { idempotency }),
        }),
      }),
    },
    { port: 0, isFirst: true },
  );
  await service.close();
  expect(warn.mock.calls).toEqual(warnings);
});
