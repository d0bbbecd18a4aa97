import { initTRPC } from '@trpc/server';
import { generateOpenApiDocument, type OpenApiMeta } from 'trpc-to-openapi';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { createGateway } from './gateway.ts';
import type { GatewayMeta, RestMeta } from './procedures/meta.ts';

type TheirRestMeta = NonNullable<OpenApiMeta<object>['openapi']>;
/** Their fields as both libraries read them: no field is written to. */
type ReadonlyRestMeta = { readonly [Name in keyof TheirRestMeta]: Readonly<TheirRestMeta[Name]> };

const info = { title: 'Books', version: '1', baseUrl: '/v1' };
const document = { title: 'Books', version: '1' };

test('GatewayMeta accepts the metadata of trpc-to-openapi, and true or false', () => {
  expectTypeOf<OpenApiMeta<object>>().toExtend<GatewayMeta>();
  expectTypeOf<{ openapi: boolean }>().toExtend<GatewayMeta>();
});

test('RestMeta has all fields of trpc-to-openapi', () => {
  expectTypeOf<TheirRestMeta>().toExtend<RestMeta>();
  expectTypeOf<Exclude<keyof TheirRestMeta, keyof RestMeta>>().toBeNever();
});

test('the fields of RestMeta that trpc-to-openapi has are valid for it, except headers of another zod', () => {
  type Shared = Required<Pick<RestMeta, keyof TheirRestMeta>>;
  type Other = 'requestHeaders' | 'responseHeaders';
  expectTypeOf<Omit<Shared, Other>>().toExtend<Omit<ReadonlyRestMeta, Other>>();
});

test('a router typed with OpenApiMeta is a router of the gateway', () => {
  const t = initTRPC.meta<OpenApiMeta>().create();
  const router = t.router({ a: t.procedure.query(() => 1) });
  expectTypeOf(createGateway).toBeCallableWith({ router, createContext: () => ({}), document });
});

test('a router typed with GatewayMeta is a router of trpc-to-openapi', () => {
  const t = initTRPC.meta<GatewayMeta>().create();
  const router = t.router({ a: t.procedure.query(() => 1) });
  expectTypeOf(generateOpenApiDocument).toBeCallableWith(router, info);
});

test('a router typed with OpenApiMeta<GatewayMeta> takes the fields of both', () => {
  const t = initTRPC.meta<OpenApiMeta<GatewayMeta>>().create();
  const procedure = t.procedure.meta({
    scopes: ['books'],
    openapi: {
      method: 'POST',
      path: '/books',
      tags: ['books'],
      deprecated: true,
      deprecation: { since: new Date(0) },
      headers: { Location: { description: 'The book.', value: () => '/books/1' } },
      responseHeaders: z.object({ 'x-total': z.string() }),
      successStatus: 201,
    },
  });
  const router = t.router({ a: procedure.mutation(() => 1) });
  expectTypeOf(generateOpenApiDocument).toBeCallableWith(router, info);
  expectTypeOf(createGateway).toBeCallableWith({ router, createContext: () => ({}), document });
});
