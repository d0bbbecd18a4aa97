import { createHmac } from 'node:crypto';
import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { GatewayError } from '../checks/gatewayError.ts';
import { bearer } from '../auth/schemes/bearer.ts';
import { testGateway } from '../testing/testGateway.ts';
import type { RequestRecord } from './requestRecord.ts';
import { readRoutes, type Routes } from './routes.ts';

const handler = () => ({ status: 200, headers: [] });
const table = (...keys: readonly string[]) =>
  readRoutes(Object.fromEntries(keys.map((key) => [key, handler])));

it.each(['page', '/a?b', '/a#b', 'get /a', ' /a', 'G,T /a', 'HEAD /a', 'TRACE /a'])(
  'readRoutes rejects the key %j',
  (key) => {
    expect(() => table(key)).toThrow(
      new GatewayError(
        `The key "${key}" of routes is invalid; it must be a path without query and spaces, such as "/page", or a method in upper case and a path, such as "POST /page". GET also serves HEAD, and the gateway serves OPTIONS.`,
      ),
    );
  },
);

it('readRoutes rejects two routes with the same method and path', () => {
  expect(() => table('/a', 'GET /a')).toThrow(
    'GET "/a" is served twice: by routes, document.path, mcp or the metadata of a protected resource. Give one of them another path.',
  );
});

it.each([
  [undefined, 'undefined'],
  ['page', '"page"'],
  [{ handler }, 'an object'],
])('readRoutes rejects the route %j', (route, shown) => {
  expect(() => readRoutes({ '/a': route } as never)).toThrow(
    new GatewayError(`routes["/a"] is ${shown}; it must be a function.`),
  );
});

const sign = (body: string | Uint8Array) => createHmac('sha256', 'whsec').update(body).digest('hex');
const textResponse = (body: string, status = 200) => ({ status, headers: [], body });

async function start() {
  const records: RequestRecord[] = [];
  const routes: Routes = {
    'POST /webhooks/stripe': async (request) => {
      const body = await request.body(64);
      if (request.header('stripe-signature') === sign(body))
        return textResponse(new TextDecoder().decode(body), 202);
      throw new TRPCError({ code: 'BAD_REQUEST', message: 'The signature is not valid.' });
    },
    'PUT /v1/blobs': ({ method }) => textResponse(method),
    'GET /v1/blobs': () => textResponse('blob'),
  };
  const { fetch } = await testGateway(initTRPC.create().router({}), {
    authentication: bearer({ verify: () => undefined }),
    cors: { origins: ['https://shop.example'] },
    rateLimit: { calls: 2, windowMs: 3_600_000 },
    routes,
    onResponse: (record) => records.push(record),
  });
  return {
    records,
    send: (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
      fetch(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body }) }),
  };
}

// Webhooks and other requests that read the raw body: stripe/stripe-node #599. There is no thread about tRPC.
it('a route receives the raw body, without a credential', async () => {
  const { records, send } = await start();
  const body = '{ "id":  "evt_1" }';
  const headers = { 'stripe-signature': sign(body), 'content-type': 'application/json' };
  const accepted = await send('POST', '/webhooks/stripe', headers, body);
  expect([accepted.status, await accepted.text()]).toEqual([202, body]);
  const forged = await send('POST', '/webhooks/stripe', headers, '{}');
  expect([forged.status, await forged.json()]).toEqual([
    400,
    { code: 'BAD_REQUEST', message: 'The signature is not valid.', status: 400 },
  ]);
  const large = await send('POST', '/webhooks/stripe', headers, 'x'.repeat(65));
  expect([large.status, await large.json()]).toMatchObject([413, { code: 'PAYLOAD_TOO_LARGE' }]);
  expect(records.map(({ protocol, method, path, status }) => [protocol, method, path, status])).toEqual(
    [202, 400, 413].map((status) => ['other', 'POST', '/webhooks/stripe', status]),
  );
});

it.each<[method: string, path: string, status: number, allow: string | null, body: unknown]>([
  ['GET', '/webhooks/stripe', 405, 'POST, OPTIONS', expect.any(String)],
  ['PUT', '/v1/blobs', 200, null, 'PUT'],
  ['GET', '/v1/blobs', 200, null, 'blob'],
  ['HEAD', '/v1/blobs', 200, null, ''],
  ['OPTIONS', '/v1/blobs', 204, 'PUT, GET, HEAD, OPTIONS', ''],
  // Other paths, which resemble it.
  ['POST', '/Webhooks/stripe', 404, null, expect.any(String)],
  ['POST', '/webhooks/stripe/', 404, null, expect.any(String)],
])('%s %s of a route responds with %i and allows %s', async (method, path, status, allow, body) => {
  const { send } = await start();
  const response = await send(method, path, { origin: 'https://shop.example' });
  expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([
    status,
    allow,
    body,
  ]);
  expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
});
