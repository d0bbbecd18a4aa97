import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { GatewayMeta } from '../procedures/meta.ts';
import type { CorsOptions } from './cors.ts';
import { testGateway } from '../testing/testGateway.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const page = 'https://pets.example';

const router = t.router({
  described: t.procedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/described',
        requestHeaders: z.object({
          'X-Tenant': z.string().optional(),
          'idempotency-key': z.string().optional(),
        }),
        responseHeaders: z.object({ 'X-Total': z.string() }),
      },
    })
    .output(z.string())
    .query(() => 'here'),
  computed: t.procedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/computed',
        headers: { 'X-Cost': { description: 'Its cost.', value: () => 1 } },
      },
    })
    .output(z.string())
    .mutation(() => 'done'),
});

const open = (cors: Partial<CorsOptions> = {}) => testGateway(router, { cors: { origins: [page], ...cors } });

/** Returns the names in a header of the response to a page. */
async function listed(
  header: string,
  method: string,
  target: string,
  cors: Partial<CorsOptions> = {},
): Promise<string[]> {
  const { fetch } = await open(cors);
  const headers = {
    origin: page,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'content-type, x-tenant',
  };
  const received = await fetch(`http://localhost${target}`, { method, headers });
  return received.headers.get(header)?.split(', ') ?? [];
}
const exposed = 'access-control-expose-headers';

it.each(['/v1/described', '/trpc/described'])(
  'GET %s exposes the response headers of the gateway and those of the metadata',
  async (target) => {
    expect(await listed(exposed, 'GET', target)).toEqual([
      'Link',
      'Location',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'Deprecation',
      'Sunset',
      'X-Request-Id',
      'Idempotent-Replayed',
      'X-Total',
      'X-Cost',
    ]);
  },
);

it('a route that sets Access-Control-Allow-Origin itself gets no other CORS headers', async () => {
  const ownHeader = ['access-control-allow-origin', '*'] as const;
  const { fetch } = await testGateway(router, {
    cors: { origins: [page] },
    routes: { '/page': () => ({ status: 200, headers: [ownHeader], body: '' }) },
  });
  const { headers } = await fetch('http://localhost/page', { headers: { origin: page } });
  expect([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary')).toEqual([
    ownHeader,
  ]);
});
