/** The gateway under attack, started as a process by `startPinned(0, …)`. It answers each message with its port. */
import { bearer, createGateway } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/meta';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { listen } from '../listen.ts';
import { respondToParent } from '../load/pinned.ts';

/** The port that the gateway listens on. */
export interface Target {
  readonly port: number;
}

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const largeText = 'x'.repeat(131_072);

const gateway = await createGateway({
  router: t.router({
    small: t.procedure
      .meta({ openapi: { method: 'GET', path: '/small' } })
      .output(z.literal('small'))
      .query(() => 'small' as const),
    large: t.procedure.query(() => largeText),
  }),
  authentication: bearer({ verify: (token) => (token === 'good-key' ? 'Ada' : undefined) }),
  createContext: () => ({}),
  document: { title: 'Target', version: '0.0.0' },
});
const { port } = await listen(gateway);

respondToParent(async () => ({ port }) satisfies Target);
