import { initTRPC } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../gateway.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import type { GatewayMeta } from '../procedures/meta.ts';
import type { CorsOptions } from './cors.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
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
        responseHeaders: { 'X-Cost': { description: 'Its cost.', value: () => 1 } },
      },
    })
    .output(z.string())
    .mutation(() => 'done'),
});

const open = (cors: Partial<CorsOptions> = {}) =>
  createGateway({
    router,
    createContext: () => ({}),
    cors: { origins: [page], ...cors },
    document: { title: 'Pages', version: '0.0.0' },
  });

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

const allowed = 'access-control-allow-headers';
const exposed = 'access-control-expose-headers';

describe('Access-Control-Allow-Headers', () => {
  it.each(['/v1/described', '/v1/nowhere', '/trpc/described'])(
    'OPTIONS %s allows the request headers that a page of an allowed origin asks for',
    async (target) => {
      expect(await listed(allowed, 'OPTIONS', target)).toEqual(['content-type', 'x-tenant']);
    },
  );

  it('a preflight of another origin allows no headers', async () => {
    expect(await listed(allowed, 'OPTIONS', '/v1/described', { origins: ['https://a.example'] })).toEqual([]);
  });
});

describe('Access-Control-Expose-Headers', () => {
  it.each(['/v1/described', '/trpc/described'])(
    'GET %s exposes the response headers of the gateway and those of responseHeaders',
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
});

it('a route that sets Access-Control-Allow-Origin itself gets no other CORS headers', async () => {
  const ownHeader = ['access-control-allow-origin', '*'] as const;
  const { fetch } = await createGateway({
    router,
    createContext: () => ({}),
    cors: { origins: [page] },
    routes: { '/page': () => ({ status: 200, headers: [ownHeader], body: '' }) },
    document: { title: 'Pages', version: '0.0.0' },
  });
  const { headers } = await fetch('http://localhost/page', { headers: { origin: page } });
  expect([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary')).toEqual([
    ownHeader,
  ]);
});

it('a preflight for an unknown path answers 204 with CORS headers and without the headers of the 404', async () => {
  const { fetch } = await open();
  const headers = { origin: page, 'access-control-request-method': 'GET' };
  const response = await fetch('http://localhost/v1/nowhere', { method: 'OPTIONS', headers });
  expect([response.status, response.body]).toEqual([204, null]);
  expect([...response.headers].map(([name]) => name)).toEqual([
    'access-control-allow-methods',
    'access-control-allow-origin',
    'access-control-max-age',
    'vary',
    'x-request-id',
  ]);
  // `fetch` of Node removes the body of a 204 itself.
  const { handle } = await open();
  expect((await handle(inProcessRequest('OPTIONS', '/v1/nowhere', headers))).body).toBeUndefined();
});
