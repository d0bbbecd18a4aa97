import type { ErrorFormat } from 'trpc-gateway';
import { trpcToOpenApiErrors } from 'trpc-gateway/trpc-to-openapi';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { post, startShape } from '../startShape.ts';

class OutOfStock extends Error {
  readonly left: number;
  constructor(left: number) {
    super('select left from stock where shelf = 7');
    this.left = left;
  }
}

const t = initTRPC.meta<GatewayMeta>().create();
const router = t.router({
  order: t.procedure
    .meta({ openapi: { method: 'POST', path: '/orders' } })
    .input(
      z.object({
        email: z.email(),
        lines: z.array(z.object({ count: z.int().min(1) })),
        account: z.union([z.int(), z.literal('cash')]).optional(),
      }),
    )
    .output(z.void())
    .mutation(() => {
      throw new TRPCError({ code: 'CONFLICT', message: 'Too few are left.', cause: new OutOfStock(2) });
    }),
  search: t.procedure
    .meta({ openapi: { method: 'GET', path: '/orders' } })
    .input(
      z.object({
        limit: z.int().optional(),
        price: z.number().optional(),
        paid: z.boolean().optional(),
        since: z.date().optional(),
        barcode: z.bigint().max(5n).optional(),
        kind: z.enum(['new', 'old']).optional(),
        page: z.union([z.int(), z.literal('last')]).optional(),
      }),
    )
    .output(z.void())
    .query(() => {
      throw new Error('connect mongodb://root:hunter2@db failed');
    }),
});

/** Serves orders until the test ends. */
async function start(errorFormat?: ErrorFormat) {
  const { records, restJson } = await startShape(router, errorFormat && { errorFormat });
  return {
    records,
    add: (body: unknown) => restJson('/orders', post(body)),
    get: (query = '') => restJson(`/orders?${query}`),
  };
}

const order = { email: 'ada@example.test', lines: [{ count: 1 }] };
const formatOf = (body: ErrorFormat['body']): ErrorFormat => ({
  contentType: 'application/json',
  schema: z.looseObject({}).meta({ id: 'OwnError' }),
  body,
});

test('an errorFormat can send data of a cause, which the default format does not', async () => {
  const { add } = await start(
    formatOf(({ code, error }) => ({
      code,
      ...(error?.cause instanceof OutOfStock && { left: error.cause.left }),
    })),
  );
  expect(await add(order)).toEqual([409, { code: 'CONFLICT', left: 2 }]);
  const byDefault = await start();
  expect(await byDefault.add(order)).toEqual([
    409,
    { code: 'CONFLICT', message: 'Too few are left.', status: 409 },
  ]);
  expect(await byDefault.get()).toEqual([
    500,
    { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 },
  ]);
});

test('errorFormat receives each invalid field with its path and its code', async () => {
  const { add } = await start(
    formatOf(({ issues }) => ({
      fields: issues.map(({ path, code }) => [path.join('.'), code]),
    })),
  );
  expect(await add({ email: 'ada', lines: [{ count: 1 }, { count: 0 }], account: 'credit' })).toEqual([
    400,
    {
      fields: [
        ['email', 'invalid_format'],
        ['lines.1.count', 'too_small'],
        ['account', 'invalid_union'],
      ],
    },
  ]);
});

test.for<[query: string, issue: object]>([
  ['limit=x', { code: 'invalid_type', expected: 'int', path: ['limit'] }],
  ['limit=9007199254740993', { code: 'invalid_type', expected: 'int', path: ['limit'] }],
  ['limit=%ff', { code: 'invalid_format', format: 'utf-8', path: ['limit'] }],
  ['since=2026', { code: 'invalid_type', expected: 'date', path: ['since'] }],
  ['barcode=x', { code: 'invalid_type', expected: 'bigint', path: ['barcode'] }],
  ['barcode=6', { code: 'too_big', maximum: '5', path: ['barcode'] }],
  ['kind=x', { code: 'invalid_value', values: ['new', 'old'], path: ['kind'] }],
  ['page=x', { code: 'invalid_union', path: ['page'] }],
])(
  'trpcToOpenApiErrors answers GET /orders?%s with the issue code and the details of zod',
  async ([query, issue]) => {
    const { get } = await start(trpcToOpenApiErrors);
    expect(await get(query)).toEqual([
      400,
      {
        code: 'BAD_REQUEST',
        message: 'Input validation failed',
        data: { code: 'BAD_REQUEST', httpStatus: 400, path: 'search' },
        issues: [expect.objectContaining(issue)],
      },
    ]);
  },
);

test('an errorFormat that throws is answered with 500 in the default format, and its error is recorded', async () => {
  const broken = new TypeError('left is not a function');
  const { add, records } = await start(
    formatOf(() => {
      throw broken;
    }),
  );
  expect(await add(order)).toEqual([
    500,
    { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 },
  ]);
  expect(records).toMatchObject([{ operation: 'order', status: 500, error: broken }]);
});
