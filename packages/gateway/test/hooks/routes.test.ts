import { bearer } from 'trpc-gateway';
import { expect, it } from 'vitest';
import { startShape } from '../startShape.ts';
import { besideRoutes as router, routes, sign } from './routers.ts';

// Webhooks and other requests that read the raw body: stripe/stripe-node #599. There is no thread about tRPC.

async function start() {
  const { origin, records, server } = await startShape(router, {
    authentication: bearer({ verify: () => undefined }),
    cors: { origins: ['https://shop.example'] },
    rateLimit: { calls: 2, windowMs: 3_600_000 },
    routes,
  });
  return {
    records,
    send: (path: string, init: RequestInit = {}) => server.fetch(`${origin}${path}`, init),
  };
}

it('a route receives the raw body, without a credential', async () => {
  const { records, send } = await start();
  const body = '{ "id":  "evt_1" }';
  const headers = { 'stripe-signature': sign(body), 'content-type': 'application/json' };
  const accepted = await send('/webhooks/stripe', { method: 'POST', headers, body });
  expect([accepted.status, await accepted.text()]).toEqual([202, body]);
  const forged = await send('/webhooks/stripe', { method: 'POST', headers, body: '{}' });
  expect([forged.status, await forged.json()]).toEqual([
    400,
    { code: 'BAD_REQUEST', message: 'The signature is not valid.', status: 400 },
  ]);
  const large = await send('/webhooks/stripe', { method: 'POST', headers, body: 'x'.repeat(65) });
  expect([large.status, await large.json()]).toMatchObject([413, { code: 'PAYLOAD_TOO_LARGE' }]);
  expect(records.map(({ protocol, method, path, status }) => [protocol, method, path, status])).toEqual(
    [202, 400, 413].map((status) => ['other', 'POST', '/webhooks/stripe', status]),
  );
});

it('a route answers other methods with 405 and Allow, and OPTIONS with the CORS headers', async () => {
  const { send } = await start();
  const wrongMethod = await send('/webhooks/stripe');
  expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  const put = await send('/v1/blobs', { method: 'PUT', body: 'x' });
  expect(await put.text()).toBe('PUT');
  expect(await (await send('/v1/blobs')).text()).toBe('blob');
  const head = await send('/v1/blobs', { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'PUT' };
  const preflight = await send('/v1/blobs', { method: 'OPTIONS', headers });
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'PUT, GET, HEAD, OPTIONS',
  ]);
  expect((await send('/v1/blobs', { headers })).headers.get('access-control-allow-origin')).toBe(
    headers.origin,
  );
  const crashed = await send('/crash');
  expect([crashed.status, await crashed.text()]).toEqual([500, expect.not.stringContaining('secret')]);
});
