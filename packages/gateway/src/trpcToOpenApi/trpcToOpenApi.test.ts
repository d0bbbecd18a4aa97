import { initTRPC, TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { expect, test } from 'vitest';
import { apiErrors } from '../operations/errorFormat.ts';
import { trpcToOpenApiErrors } from './trpcToOpenApi.ts';
import { testGateway } from '../testing/testGateway.ts';

// Its paths, statuses, bodies, also those of errors, and inputs are compared with those of trpc-to-openapi in packages/gateway/test/trpcToOpenApi.

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
