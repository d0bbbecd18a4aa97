import { expect, it } from 'vitest';
import { z } from 'zod';
import { t, testGateway } from '../testing/testGateway.ts';

const page = 'https://pets.example';

const router = t.router({
  described: t.procedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/described',
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

it.each(['/v1/described', '/trpc/described'])(
  'GET %s exposes the response headers of the gateway and those of the metadata',
  async (target) => {
    const { fetch } = await testGateway(router, { cors: { origins: [page] } });
    const { headers } = await fetch(`http://localhost${target}`, { headers: { origin: page } });
    // Those of the gateway are in packages/gateway/test/policies.
    expect(headers.get('access-control-expose-headers')).toMatch(/^Link, .*, X-Total, X-Cost$/);
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
