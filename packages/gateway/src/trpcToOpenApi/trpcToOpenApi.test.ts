import { initTRPC, TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { expect, it, test } from 'vitest';
import { apiErrors } from '../operations/errorFormat.ts';
import { createGateway } from '../gateway.ts';
import { trpcToOpenApi, trpcToOpenApiErrors } from './trpcToOpenApi.ts';
import { t, testGateway } from '../testing/testGateway.ts';

// Its paths, statuses, bodies and inputs are compared with those of trpc-to-openapi in packages/gateway/test/trpcToOpenApi.

it.each<[what: string, error: () => Error, status: number, message: string]>([
  ['a plain error', () => new Error('Your plan has expired.'), 500, 'Internal server error'],
  [
    'a TRPCError without a message',
    () => new TRPCError({ code: 'BAD_GATEWAY', cause: new Error('select 1') }),
    502,
    'Bad gateway',
  ],
  [
    'a TRPCError with a message',
    () => new TRPCError({ code: 'NOT_FOUND', message: 'Rex is gone.', cause: new Error('select 1') }),
    404,
    'Rex is gone.',
  ],
])(
  'the body of trpcToOpenApiErrors for %s has the status %i and the message %j',
  async (_what, error, status, message) => {
    const fail = t.procedure.meta({ openapi: { method: 'GET', path: '/fail' } }).query(() => {
      throw error();
    });
    const gateway = await testGateway(t.router({ fail }), {
      errorFormat: trpcToOpenApiErrors,
      onResponse: () => {},
    });
    const response = await gateway.fetch(new Request('http://errors.example/v1/fail'));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ message, data: { httpStatus: status, path: 'fail' } });
  },
);

test('a format that does not read the shape of an error runs no errorFormatter', async () => {
  let formatted = 0;
  const own = initTRPC.meta<OpenApiMeta>().create({
    errorFormatter: ({ shape }) => {
      formatted += 1;
      return shape;
    },
  });
  const fail = own.procedure.meta({ openapi: { method: 'GET', path: '/fail' } }).query(() => {
    throw new TRPCError({ code: 'CONFLICT' });
  });
  const gatewayOf = (errorFormat: typeof apiErrors) => testGateway(own.router({ fail }), { errorFormat });
  const request = () => new Request('http://errors.example/v1/fail');
  await (await gatewayOf(apiErrors)).fetch(request());
  expect(formatted).toBe(0);
  await (await gatewayOf(trpcToOpenApiErrors)).fetch(request());
  expect(formatted).toBe(1);
});

test('trpcToOpenApi names operations by their whole path', async () => {
  const list = t.procedure.meta({ openapi: { method: 'GET', path: '/things/parts' } }).query(() => []);
  const router = t.router({ things: t.router({ parts: t.router({ list }) }) });
  const preset = trpcToOpenApi({ title: 'Things', version: '1.0.0' });
  const gateway = await createGateway({ ...preset, router, createContext: () => ({}) });
  expect(await gateway.document()).toMatchObject({
    paths: { '/things/parts': { get: { operationId: 'things-parts-list' } } },
  });
});
