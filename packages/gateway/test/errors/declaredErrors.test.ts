import { bearer } from 'trpc-gateway';
import { declareErrors } from 'trpc-gateway/procedures';
import { safe } from '@trpc/client';
import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { post, startShape } from '../startShape.ts';
import { challengeless, shopRouter, subscribed, t, undescribedFormatter, written } from './declaredErrors.ts';

const internalError = { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 };

it('REST and tRPC clients receive the status, code, message and data of a declared error (trpc #6832)', async () => {
  const { records, restJson, trpc } = await startShape(shopRouter);
  expect(await restJson('/orders', post({ count: 10 }))).toEqual([
    409,
    { code: 'OUT_OF_STOCK', message: 'Too few are left.', status: 409, data: { left: 2 } },
  ]);
  const [, error] = await safe(trpc.order.mutate({ count: 10 }));
  if (error?.data?.code !== 'OUT_OF_STOCK') throw new Error('The code is missing.');
  expect(error.data.data.left satisfies number).toBe(2);
  expect(error.shape).toEqual({
    message: 'Too few are left.',
    code: -32_009,
    data: { code: 'OUT_OF_STOCK', httpStatus: 409, path: 'order', data: { left: 2 } },
  });
  expect(records.map(({ error: reported, status }) => [status, reported])).toEqual([
    [409, undefined],
    [200, undefined],
  ]);
});

it('an error that is not declared is sent without its data and its cause (trpc-openapi #329)', async () => {
  const { expectRest, trpc } = await startShape(shopRouter);
  const conflict = { code: 'CONFLICT', message: 'Locked.', status: 409 };
  await expectRest([
    ['/orders', post({ count: 2 }), 409, conflict],
    ['/orders', post({ count: 3 }), 500, internalError],
    // A bug of the server: the data does not match its declaration.
    ['/orders', post({ count: 4 }), 500, internalError],
    // A procedure without .errors(shopErrors) throws it.
    ['/undeclared', {}, 409, { ...conflict, message: 'Too few are left.' }],
  ]);
  const [, error] = await safe(trpc.undeclared.query());
  expect(error?.data).toEqual({ code: 'CONFLICT', httpStatus: 409, path: 'undeclared' });
});

it('REST sends no code and no data of a formatter of tRPC’s .errors()', async () => {
  const { restJson } = await startShape(undescribedFormatter);
  expect(await restJson('/a')).toEqual([404, { code: 'NOT_FOUND', message: 'Not found', status: 404 }]);
});

it('REST takes the status and the message that a formatter of tRPC’s .errors() writes, and no data (trpc #7591)', async () => {
  const { expectRest, records } = await startShape(written);
  await expectRest([
    ['/write', {}, 429, { code: 'TOO_MANY_REQUESTS', message: 'Slow down.', status: 429 }],
    ['/quiet?a=1', {}, 503, { code: 'SERVICE_UNAVAILABLE', message: 'Service unavailable', status: 503 }],
    ['/passed', {}, 400, 'a: is required.'],
    ['/passed?a=1', {}, 500, internalError],
  ]);
  expect(records[0]).toMatchObject({ status: 429, error: undefined });
});

const withStatus = (
  path: `/${string}`,
  httpStatus: number,
  error: ConstructorParameters<typeof TRPCError>[0],
) =>
  t.procedure
    .errors(({ shape }) => ({ ...shape, data: { ...shape.data, httpStatus } }))
    .meta({ openapi: { method: 'GET', path } })
    .output(z.void())
    .query(() => {
      throw new TRPCError(error);
    });

it('a declared error has the message of the throw rather than of its definition, and data that is parsed once, so that its schema may change the type', async () => {
  const LeftAsText = z.codec(z.int(), z.string(), { decode: String, encode: Number });
  const errors = declareErrors({
    SOLD_OUT: { status: 409, message: 'None is left.', data: z.object({ left: LeftAsText }) },
  });
  const { restJson } = await startShape(
    t.router({
      order: t.procedure
        .meta({ openapi: { method: 'GET', path: '/order' } })
        .errors(errors)
        .output(z.void())
        .query(() => {
          throw errors.SOLD_OUT({ message: 'Few are left.', data: { left: 5 } });
        }),
    }),
  );
  expect(await restJson('/order')).toEqual([
    409,
    { code: 'SOLD_OUT', message: 'Few are left.', status: 409, data: { left: '5' } },
  ]);
});

it('the record of a call has the status that .errors() gives its error, over tRPC and on a WebSocket', async () => {
  const { origin, records, server, socketTrpc } = await startShape(t.router({ shopRouter, written }));
  const client = socketTrpc();
  expect((await server.fetch(`${origin}/trpc/shopRouter.order`, post({ count: 0 }))).status).toBe(423);
  expect((await server.fetch(`${origin}/trpc/written.write`)).status).toBe(429);
  await safe(client.shopRouter.order.mutate({ count: 0 }));
  await safe(client.written.write.query());
  const errorRecords = records.filter(({ status }) => status >= 400);
  expect(errorRecords.map(({ error, method, status }) => [method, status, error])).toEqual([
    ['POST', 423, undefined],
    ['GET', 429, undefined],
    ['WS', 423, undefined],
    ['WS', 429, undefined],
  ]);
});

it.each([
  ['/v1/busy', 503, '7'],
  ['/trpc/busy', 503, '7'],
  ['/trpc/busy?batch=1', 503, '7'],
  ['/trpc/busy,taken?batch=1', 207, '7'],
  ['/v1/taken', 409, null],
  ['/trpc/taken', 409, null],
  ['/trpc/taken?batch=1', 409, null],
  // The status that .errors() writes is no error.
  ['/v1/odd', 409, null],
])('GET %s, whose status is by .errors(), is %d with the Retry-After %s', async (path, ...expected) => {
  const after = (retryAfterSeconds: number) => Object.assign(new Error('busy'), { retryAfterSeconds });
  const { origin, server } = await startShape(
    t.router({
      busy: withStatus('/busy', 503, { code: 'CONFLICT', cause: after(7) }),
      odd: withStatus('/odd', 399, { code: 'CONFLICT' }),
      taken: withStatus('/taken', 409, { code: 'SERVICE_UNAVAILABLE', cause: after(9) }),
    }),
  );
  const { headers, status } = await server.fetch(`${origin}${path}`);
  expect([status, headers.get('retry-after')]).toEqual(expected);
});

it('a subscription ends with the declared error that it throws, on both protocols', async () => {
  const { rest } = await startShape(subscribed);
  const text = await (await rest('/ticks')).text();
  const expected = { code: 'OUT_OF_STOCK', message: 'Too few are left.', status: 409, data: { left: 0 } };
  expect(text).toBe(`data: 1\n\nevent: error\ndata: ${JSON.stringify(expected)}\n\n`);
  const streamed = await rest('/../trpc/ticks');
  expect(await streamed.text()).toContain('"data":{"left":0}');
});

it('a declared error with the status 401 or 403 has no challenge, and the document does not require one', async () => {
  const { document, rest } = await startShape(challengeless, {
    authentication: bearer({
      verify: () => ({}),
      scopes: () => ['read'],
    }) as never,
  });
  const headers = { authorization: 'Bearer a' };
  for (const [query, status] of [
    ['true', 403],
    ['false', 401],
  ] as const) {
    const response = await rest(`/declared?locked=${query}`, { headers });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([status, null]);
  }
  const isPromised = (path: string, status: number) =>
    document.paths[path]?.['get']?.responses[status]?.headers?.['WWW-Authenticate']?.required;
  expect([isPromised('/declared', 401), isPromised('/declared', 403)]).toEqual([false, false]);
  expect([isPromised('/others', 401), isPromised('/others', 403)]).toEqual([true, true]);
});

it.each<[what: string, data: z.ZodType, sentence: RegExp]>([
  [
    'with a date',
    z.object({ since: z.date() }),
    /the data of its error GONE contains a date; use z\.iso\.datetime\(\)\.$/,
  ],
  ['that JSON cannot represent', z.map(z.string(), z.string()), /in its error GONE, its value is a map/],
])('createGateway rejects a declared error with data %s', async (_, data, sentence) => {
  const declares = t.procedure
    .meta({ openapi: { method: 'GET', path: '/a' } })
    .errors(declareErrors({ GONE: { status: 410, data } }))
    .query(() => 1);
  await expect(startShape(t.router({ declares }))).rejects.toThrow(sentence);
});
