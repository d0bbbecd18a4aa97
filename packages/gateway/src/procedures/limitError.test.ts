import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { GatewayMeta } from './meta.ts';
import { LimitError, retryAfterSecondsOf } from './limitError.ts';
import { testGateway } from '../testing/testGateway.ts';

const t = initTRPC.meta<GatewayMeta>().create();

const targets = ['/v1/busy', '/trpc/busy', '/trpc/b%75sy'];

it.each(targets)('GET %s answers 503 with the seconds of its cause in Retry-After', async (target) => {
  const gateway = await testGateway(
    t.router({
      busy: t.procedure
        .meta({ openapi: { method: 'GET', path: '/busy' } })
        .output(z.string())
        .query(() => {
          const error = Object.assign(new Error('Full.'), { retryAfterSeconds: 4711 });
          throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Try again later.', cause: error });
        }),
    }),
    { onResponse: () => {} },
  );
  const response = await gateway.fetch(`http://localhost${target}`);
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '4711']);
});

const cause = (retryAfterSeconds: unknown) => Object.assign(new Error('busy'), { retryAfterSeconds });

it.each([
  ['TOO_MANY_REQUESTS', cause(5), 5],
  ['SERVICE_UNAVAILABLE', cause(5), 5],
  ['SERVICE_UNAVAILABLE', undefined, 1],
  ['SERVICE_UNAVAILABLE', new Error('busy'), 1],
  ['SERVICE_UNAVAILABLE', cause('5'), 1],
  ['SERVICE_UNAVAILABLE', cause(Infinity), 1],
  ['SERVICE_UNAVAILABLE', cause(1.2), 2],
  ['SERVICE_UNAVAILABLE', cause(0.5), 1],
  ['SERVICE_UNAVAILABLE', cause(0), 0],
  ['SERVICE_UNAVAILABLE', cause(-0.5), 0],
  ['SERVICE_UNAVAILABLE', cause(-5), 0],
  ['SERVICE_UNAVAILABLE', cause(Number.NaN), 1],
  ['SERVICE_UNAVAILABLE', cause(1e21), 1],
  ['INTERNAL_SERVER_ERROR', cause(5), undefined],
  ['NOT_FOUND', undefined, undefined],
] as const)('retryAfterSecondsOf an error %s with the cause %o is %s', (code, error, seconds) => {
  expect(retryAfterSecondsOf(new TRPCError({ code, cause: error }))).toBe(seconds);
});

it('retryAfterSecondsOf a LimitError is its own retryAfterSeconds', () => {
  const error = { code: 'TOO_MANY_REQUESTS', message: 'Too many.', retryAfterSeconds: 30 } as const;
  expect(retryAfterSecondsOf(new LimitError('rate', error))).toBe(30);
});
