import { bearer, cookie } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type ServiceRequest, type ServiceOptions, startService } from '../startService.ts';
import { startShape } from '../startShape.ts';

const allowedOrigin = 'https://pets.example';
const withCors = (cors: Partial<ServiceOptions['cors']> = {}, options: ServiceOptions = {}) =>
  startService({ cors: { origins: [allowedOrigin, 'http://localhost:5173'], ...cors }, ...options });

const corsHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

const exposedHeaders =
  'Link, Location, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, X-Request-Id, Idempotent-Replayed';

it('responses have no CORS headers without the option cors', async () => {
  const { send } = await startService();
  expect(corsHeaders(await send('/v1/list', { headers: { origin: allowedOrigin } }))).toEqual({});
});

it.each([
  ['/v1/write', 'POST, OPTIONS'],
  ['/v1/list', 'GET, HEAD, OPTIONS'],
  ['/trpc/list', 'GET, POST, HEAD, OPTIONS'],
  ['/page', 'GET, HEAD, OPTIONS'],
  ['/mcp', 'POST, OPTIONS'],
])(
  'a preflight of %s is answered with 204 and Access-Control-Allow-Methods: %s, without a credential',
  async (target, methods) => {
    const tools = ({ path }: { readonly path: string }) => path === 'list' && { description: 'Lists.' };
    const { send } = await withCors({}, { mcp: mcp({ tools }) });
    const preflight = await send(target, {
      method: 'OPTIONS',
      headers: {
        authorization: '',
        origin: allowedOrigin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, x-tenant',
      },
    });
    expect(preflight.status).toBe(204);
    expect(corsHeaders(preflight)).toEqual({
      'access-control-allow-origin': allowedOrigin,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'content-type, x-tenant',
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
  },
);

it.each(['/v1/nowhere', '/nowhere'])(
  'a preflight of the unknown path %s is answered with 204, and a page of an allowed origin can read the 404',
  async (target) => {
    const { send } = await withCors();
    const headers = { authorization: '', origin: allowedOrigin };
    const preflightHeaders = { ...headers, 'access-control-request-method': 'PUT' };
    const preflight = await send(target, { method: 'OPTIONS', headers: preflightHeaders });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('allow')).toBeNull();
    expect(corsHeaders(preflight)).toMatchObject({
      'access-control-allow-origin': allowedOrigin,
      'access-control-allow-methods': 'PUT',
      vary: 'Origin',
    });
    const put = await send(target, { method: 'PUT', headers: { origin: allowedOrigin } });
    expect([put.status, put.headers.get('access-control-allow-origin')]).toEqual([404, allowedOrigin]);

    expect((await send(target, { method: 'OPTIONS', headers })).status).toBe(404);
    const otherOrigin = { ...preflightHeaders, origin: 'https://evil.example' };
    expect((await send(target, { method: 'OPTIONS', headers: otherOrigin })).status).toBe(404);
  },
);

it.each<[what: string, target: string, init: ServiceRequest, status: number, options?: ServiceOptions]>([
  ['a success', '/v1/list', {}, 200],
  ['a route', '/page', {}, 200],
  ['the document', '/openapi.json', {}, 200],
  ['400', '/v1/slow?ms=x', {}, 400],
  ['401', '/v1/list', { headers: { authorization: '' } }, 401],
  ['404', '/v1/nowhere', {}, 404],
  ['405', '/v1/list', { method: 'DELETE' }, 405],
  [
    '413',
    '/v1/write',
    { method: 'POST', body: '"long"', headers: { 'content-type': 'application/json' } },
    413,
  ],
  ['415', '/v1/write', { method: 'POST', body: 'x' }, 415],
  ['429', '/v1/list', {}, 429, { rateLimit: { calls: 1, windowMs: 60_000 } }],
  ['504', '/v1/slow?ms=500', {}, 504, { callTimeoutMs: 50 }],
  ['server-sent events', '/v1/ticks', {}, 200],
  ['a subscription over tRPC', '/trpc/ticks', {}, 200],
  ['a stream of JSON Lines', '/trpc/list?batch=1', { headers: { 'trpc-accept': 'application/jsonl' } }, 200],
  ['a stream of bytes', '/v1/drip', {}, 200],
])('a page of an allowed origin can read %s', async (_what, target, init, status, options = {}) => {
  const { send } = await withCors({}, { maxBodySize: 3, ...options });
  if (status === 429) await send(target);
  const response = await send(target, { ...init, headers: { origin: allowedOrigin, ...init.headers } });
  expect(response.status).toBe(status);
  expect(corsHeaders(response)).toEqual({
    'access-control-allow-origin': allowedOrigin,
    'access-control-expose-headers': exposedHeaders,
    vary: expect.stringMatching(/(^|, )Origin$/),
  });
  await response.body?.cancel();
});

it('a page of an allowed origin can read the response headers that metadata describes, over each protocol', async () => {
  const t = initTRPC.meta<GatewayMeta>().create();
  const responseHeaders = z.object({ 'X-Total': z.string() });
  const headers = { 'X-Cost': { description: 'Its cost.', value: () => 1 } };
  const priced = t.procedure
    .meta({ openapi: { method: 'GET', path: '/priced', responseHeaders, headers } })
    .query(() => 1);
  const { origin, server } = await startShape(t.router({ priced }), { cors: { origins: [allowedOrigin] } });
  for (const target of ['/v1/priced', '/trpc/priced']) {
    const response = await server.fetch(`${origin}${target}`, { headers: { origin: allowedOrigin } });
    const exposed = response.headers.get('access-control-expose-headers');
    expect(exposed).toBe(`${exposedHeaders}, X-Total, X-Cost`);
  }
});

it('a route that sets Access-Control-Allow-Origin itself gets no other CORS headers', async () => {
  const ownHeader = { 'access-control-allow-origin': '*' };
  const { send } = await withCors(
    {},
    { routes: { '/page': () => ({ status: 200, headers: Object.entries(ownHeader), body: '' }) } },
  );
  expect(corsHeaders(await send('/page', { headers: { origin: allowedOrigin } }))).toEqual(ownHeader);
});

it.each([
  {},
  { origin: 'https://pets.example:8443' },
  { origin: 'http://pets.example' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: `${allowedOrigin}.evil` },
])('a page that sends %o cannot read responses, which have Vary: Origin', async (headers) => {
  const { send } = await withCors({ credentials: true });
  for (const method of ['GET', 'OPTIONS']) {
    expect(corsHeaders(await send('/v1/list', { method, headers }))).toEqual({ vary: 'Origin' });
  }
});

it('cors.credentials sets Access-Control-Allow-Credentials', async () => {
  const { send } = await withCors({ credentials: true });
  const headers = { origin: 'http://localhost:5173' };
  for (const method of ['GET', 'OPTIONS']) {
    expect(corsHeaders(await send('/v1/list', { method, headers }))).toMatchObject({
      'access-control-allow-origin': headers.origin,
      'access-control-allow-credentials': 'true',
    });
  }
});

it('a function as cors.origins decides by origin and request', async () => {
  const { send } = await withCors({
    origins: (origin, request) => origin.endsWith('.example') && request.path === '/v1/list',
  });
  const allowed = async (target: string, origin: string) =>
    (await send(target, { headers: { origin } })).headers.get('access-control-allow-origin');
  expect(await allowed('/v1/list', 'https://a.example')).toBe('https://a.example');
  expect(await allowed('/v1/list', 'https://a.evil')).toBeNull();
  expect(await allowed('/v1/open', 'https://a.example')).toBeNull();
});

it('no page of another origin may use cookies or open a WebSocket if the function in cors.origins throws, and its error is reported', async () => {
  const origins = () => {
    throw new Error('The list is away.');
  };
  const verify = () => ({ name: 'Ada' });
  const authentication = cookie({ cookie: 'session', proxyRejectsNonAscii: true, verify });
  const { post, dial, records } = await withCors({ credentials: true, origins }, { authentication });
  const headers = { authorization: '', cookie: 'session=a', origin: 'https://a.example' };
  for (const path of ['/v1/write', '/trpc/write']) {
    const response = await post(path, { value: 1 }, headers);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('Pages of other sites are not allowed to send requests with');
  }
  expect(records.map(({ error }) => String(error))).toEqual(Array(2).fill('Error: The list is away.'));
  expect(await dial('/trpc', headers).status).toBe(403);
});

it('CORS exposes WWW-Authenticate if a scheme has the metadata of a protected resource', async () => {
  const authorizationServers = ['https://login.example'];
  const protectedResource = { resource: 'https://api.example', authorizationServers };
  const authentication = bearer({ verify: () => ({ name: 'Ada' }), protectedResource });
  const { send } = await withCors({}, { authentication });
  const { headers, status } = await send('/v1/list', {
    headers: { authorization: '', origin: allowedOrigin },
  });
  expect(status).toBe(401);
  expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
});
