import { createGateway } from 'trpc-gateway';
import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { compile, everyCompiler } from '@petstore/testing/compile';
import { initTRPC } from '@trpc/server';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import { expect, it } from 'vitest';
import { z } from 'zod';

const t = initTRPC.meta<GatewayMeta>().create();
const errors = declareErrors({
  OUT_OF_STOCK: { status: 409, data: z.object({ left: z.int() }) },
  ALREADY_ORDERED: { status: 409, data: z.object({ orderId: z.string() }) },
  SHOP_CLOSED: { status: 423 },
});
const router = t.router({
  order: t.procedure
    .meta({ openapi: { method: 'POST', path: '/orders', errorResponses: [409] } })
    .errors(errors)
    .output(z.object({ id: z.int() }))
    .mutation(() => {
      throw errors.SHOP_CLOSED();
    }),
});

const client = `import type { paths } from './openapi.ts';
type Responses = paths['/orders']['post']['responses'];
declare const conflict: Responses[409]['content']['application/json'];
declare const locked: Responses[423]['content']['application/json'];
if (conflict.code === 'OUT_OF_STOCK') { const left: number = conflict.data.left; const status: 409 = conflict.status; }
else if (conflict.code === 'ALREADY_ORDERED') { const id: string = conflict.data.orderId; }
else { const code: 'CONFLICT' = conflict.code; }
const closed: 'SHOP_CLOSED' = locked.code;
// @ts-expect-error -- not declared
if (conflict.code === 'SOLD_OUT') {}
// @ts-expect-error -- of another status
if (conflict.code === 'SHOP_CLOSED') {}
// @ts-expect-error -- data of another error
if (conflict.code === 'OUT_OF_STOCK') conflict.data.orderId;
// @ts-expect-error -- an error that is not declared has no data
if (conflict.code === 'CONFLICT') conflict.data;
// @ts-expect-error -- this one has no data
locked.data;
`;

it.each(everyCompiler)(
  'a REST client of openapi-typescript narrows declared errors by code, and an undeclared code does not compile: $compiler, exactOptionalPropertyTypes $exactOptionalPropertyTypes',
  async (options) => {
    const document = { title: 'Shop', version: '1.0.0' };
    const gateway = await createGateway({ router, createContext: () => ({}), document });
    const types = astToString(await openapiTypeScript(JSON.stringify(await gateway.document())));
    const files = { 'openapi.ts': types, 'client.ts': client };
    expect(await compile({ files, packages: 'repository', ...options })).toBe('');
  },
);
