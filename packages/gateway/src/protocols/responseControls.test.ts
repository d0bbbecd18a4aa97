import { TRPCError } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { GatewayOptions } from '../assembly/options.ts';
import { t, testGateway } from '../testing/testGateway.ts';

const router = t.router({
  set: t.procedure
    .meta({ openapi: { method: 'GET', path: '/set', successStatus: [200, 202] } })
    .output(z.string())
    .query(({ ctx: { response } }) => {
      response.header('X-Cost', '1');
      response.append('Set-Cookie', 'a=1');
      response.status = 202;
      return 'set';
    }),
  text: t.procedure
    .meta({ openapi: { method: 'GET', path: '/text' } })
    .output(z.string())
    .query(({ ctx: { response } }) => {
      response.header('Content-Type', 'text/plain');
      return 'text';
    }),
  status: t.procedure.input(z.int()).query(({ ctx: { response }, input }) => {
    response.status = input;
    return input;
  }),
  conflict: t.procedure
    .meta({ openapi: { method: 'GET', path: '/conflict' } })
    .output(z.string())
    .query(({ ctx: { response } }) => {
      response.status = 202;
      throw new TRPCError({ code: 'CONFLICT', message: 'Not now.' });
    }),
  ticks: t.procedure
    .meta({ openapi: { method: 'GET', path: '/ticks', event: z.int() } })
    .subscription(async function* () {
      yield 1;
    }),
  photo: t.procedure
    .meta({ openapi: { method: 'GET', path: '/photo', produces: 'image/png' } })
    .query(() => new Uint8Array(3)),
});

/** Sends a request, and returns the status and the headers of its response. */
async function send(
  target: string,
  trpc: GatewayOptions<typeof router, unknown>['trpc'] = {},
  headers: Record<string, string> = {},
  onResponse: GatewayOptions<typeof router, unknown>['onResponse'] = () => {},
) {
  const gateway = await testGateway(router, {
    createContext: ({ response }) => {
      response.header('x-context', 'created');
      return { response };
    },
    trpc,
    onResponse,
  });
  const received = await gateway.fetch(`http://localhost${target}`, { headers });
  return { status: received.status, headers: Object.fromEntries(received.headers) };
}

describe('ResponseControls', () => {
  it.each(['/v1/set', '/trpc/set', '/trpc/set?batch=1'])(
    'response.header and response.append set headers of the response to GET %s',
    async (target) => {
      expect((await send(target)).headers).toMatchObject({
        'x-cost': '1',
        'set-cookie': 'a=1',
        'x-context': 'created',
      });
    },
  );

  it.each([
    ['/trpc/set?batch=1', { 'trpc-accept': 'application/jsonl' }],
    ['/trpc/ticks', {}],
  ])('response.header in createContext sets a header of the stream of GET %s', async (target, headers) => {
    expect((await send(target, {}, headers)).headers).toMatchObject({ 'x-context': 'created' });
  });

  it('response.header replaces the content type of a REST response: GET /v1/text is only text/plain', async () => {
    expect((await send('/v1/text')).headers['content-type']).toBe('text/plain');
  });

  it.each(['/trpc/text', '/trpc/text?batch=1'])(
    'response.header does not change the content type of a tRPC response: GET %s is application/json',
    async (target) => {
      expect((await send(target)).headers['content-type']).toBe('application/json');
    },
  );

  it.each([
    ['/v1/set', 202],
    ['/trpc/set', 202],
    ['/trpc/status?input=201', 201],
    // A batch has the status of its calls.
    ['/trpc/set?batch=1', 200],
    // A status without a body, or a redirect: the client would not receive the data.
    ['/trpc/status?input=204', 200],
    ['/trpc/status?input=302', 200],
    ['/trpc/status?input=404', 200],
    ['/v1/conflict', 409],
    ['/trpc/conflict', 409],
  ])(
    'response.status sets the status of a single successful call only: GET %s responds with %i',
    async (target, status) => {
      expect((await send(target)).status).toBe(status);
    },
  );
});

describe('trpc.responseMeta', () => {
  it.each(['/v1/set', '/v1/conflict', '/v1/ticks', '/v1/photo', '/v1/nowhere'])(
    'trpc.responseMeta is not called for the REST request GET %s',
    async (target) => {
      const responseMeta = vi.fn(() => ({}));
      await send(target, { responseMeta });
      expect(responseMeta).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['/trpc/set', 202],
    ['/trpc/set?batch=1', 200],
  ])('GET %s responds with %i if trpc.responseMeta returns nothing', async (target, status) => {
    expect((await send(target, { responseMeta: () => undefined as never })).status).toBe(status);
  });

  it('a call responds with 500 and reports an error if trpc.responseMeta returns an invalid header', async () => {
    const onResponse = vi.fn<NonNullable<GatewayOptions<typeof router, unknown>['onResponse']>>();
    const responseMeta = () => ({ headers: { 'x-meta': 'a\r\nset-cookie: b=2' } });
    expect((await send('/trpc/set', { responseMeta }, {}, onResponse)).status).toBe(500);
    expect(onResponse.mock.calls).toMatchObject([[{ status: 500, error: expect.any(Error) }]]);
  });
});
