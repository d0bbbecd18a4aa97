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
  const headers = { origin: page, 'access-control-request-method': 'GET' };
  const received = await fetch(`http://localhost${target}`, { method, headers });
  return received.headers.get(header)?.split(', ') ?? [];
}

const allowed = 'access-control-allow-headers';
const exposed = 'access-control-expose-headers';

describe('Access-Control-Allow-Headers', () => {
  it.each(['/v1/described', '/v1/nowhere', '/trpc/described'])(
    'OPTIONS %s allows the request headers that browsers and tRPC need and those of requestHeaders, each once',
    async (target) => {
      expect(await listed(allowed, 'OPTIONS', target)).toEqual([
        'Authorization',
        'Content-Type',
        'Idempotency-Key',
        'Grpc-Timeout',
        'trpc-accept',
        'Last-Event-ID',
        'traceparent',
        'X-Tenant',
      ]);
    },
  );

  it('a preflight allows the headers of cors.allowHeaders, each once in any case', async () => {
    const allowHeaders = ['X-CSRF-Token', 'x-tenant', 'content-type'];
    expect((await listed(allowed, 'OPTIONS', '/v1/described', { allowHeaders })).slice(-2)).toEqual([
      'X-Tenant',
      'X-CSRF-Token',
    ]);
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

  it('a response exposes the headers of cors.exposeHeaders, each once in any case', async () => {
    const exposeHeaders = ['ETag', 'x-cost'];
    expect((await listed(exposed, 'GET', '/v1/described', { exposeHeaders })).slice(-2)).toEqual([
      'X-Cost',
      'ETag',
    ]);
  });
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
    'access-control-allow-headers',
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

it('a preflight for an unknown path allows the methods of operations and routes besides the common ones, each once', async () => {
  const text = z.object({ text: z.string() });
  const find = t.procedure
    .meta({ openapi: { method: 'QUERY', path: '/find' } })
    .input(text)
    .output(text)
    .query(({ input }) => input);
  const route = () => ({ status: 200, headers: [], body: '' });
  const { fetch } = await createGateway({
    router: t.router({ find }),
    createContext: () => ({}),
    cors: { origins: ['https://pets.example'] },
    routes: { 'PURGE /page': route, 'POST /page': route },
    document: { title: 'Pages', version: '0.0.0' },
  });
  const headers = { origin: 'https://pets.example', 'access-control-request-method': 'PURGE' };
  const response = await fetch('http://localhost/v1/nowhere', { method: 'OPTIONS', headers });
  expect(response.headers.get('access-control-allow-methods')).toBe(
    'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, QUERY, PURGE',
  );
});

it.each(['allowHeaders', 'exposeHeaders'] as const)(
  'createGateway rejects a cors.%s entry that is not a header name',
  async (option) => {
    await expect(open({ [option]: ['X-Good', 'X Bad'] })).rejects.toThrow(
      `cors.${option} contains "X Bad", which is not a valid header name. Use a name such as X-Csrf-Token, without spaces and commas.`,
    );
  },
);
