import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../gateway.ts';
import type { GatewayMeta } from './meta.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });

const targets = ['/v1/busy', '/trpc/busy', '/trpc/b%75sy'];

it.each(
  targets.flatMap((target) =>
    [
      [4711, '4711'],
      [0.5, '1'],
      [0, '0'],
      [-0.5, '0'],
      [-5, '0'],
      [Number.NaN, '1'],
      [Number.POSITIVE_INFINITY, '1'],
      [1e21, '1'],
    ].map(([seconds, value]) => [target, seconds, value] as const),
  ),
)(
  'GET %s answers 503 for an error with the cause { retryAfterSeconds: %d }, with Retry-After: %s',
  async (target, retryAfterSeconds, value) => {
    const gateway = await createGateway({
      router: t.router({
        busy: t.procedure
          .meta({ openapi: { method: 'GET', path: '/busy' } })
          .output(z.string())
          .query(() => {
            const cause = Object.assign(new Error('Full.'), { retryAfterSeconds });
            throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Try again later.', cause });
          }),
      }),
      createContext: () => ({}),
      onResponse: () => {},
      document: { title: 'Retry', version: '0.0.0' },
    });

    const response = await gateway.fetch(`http://localhost${target}`);

    expect([response.status, response.headers.get('retry-after')]).toEqual([503, value]);
  },
);
