import { bearer, createGateway } from 'trpc-gateway';
import { describe, expect, it } from 'vitest';
import { serve } from '../servers.ts';
import { besideRoutes as router, routes, sign } from './routers.ts';

// Webhooks and other requests that read the raw body: stripe/stripe-node #599. There is no thread about tRPC.

const base = {
  router,
  createContext: () => ({}),
  document: { title: 'Routes', version: '1.0.0' },
};

async function start() {
  const records: string[] = [];
  const gateway = await createGateway({
    ...base,
    authentication: bearer({ verify: (token) => (token === 'ada' ? token : undefined) }),
    cors: { origins: ['https://shop.example'] },
    rateLimit: { calls: 2, windowMs: 3_600_000 },
    onResponse: ({ protocol, method, path, status }) =>
      void records.push(`${protocol} ${method} ${path} ${status}`),
    routes,
  });
  const server = await serve(gateway);
  return {
    records,
    close: () => server.close({ graceMs: 0 }),
    send: (path: string, init: RequestInit = {}) => server.fetch(`${server.origin}${path}`, init),
  };
}

describe('routes', () => {
  it('a route receives the raw body, without a credential', async () => {
    const { close, records, send } = await start();
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
    expect(records).toEqual([202, 400, 413].map((status) => `other POST /webhooks/stripe ${status}`));
    await close();
  });

  it('a route answers other methods with 405 and Allow, and OPTIONS with the CORS headers', async () => {
    const { close, send } = await start();
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
    await close();
  });
});
