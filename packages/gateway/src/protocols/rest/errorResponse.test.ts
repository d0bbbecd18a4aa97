import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { apiErrors, problemDetails, type ErrorFormat } from '../../operations/errorFormat.ts';
import type { GatewayOptions } from '../../assembly/options.ts';
import type { Policy } from '../../calls/policy.ts';
import { declareErrors } from '../../procedures/declareErrors.ts';
import type { GatewayMeta } from '../../procedures/meta.ts';
import { trpcToOpenApiErrors } from '../../trpcToOpenApi/trpcToOpenApi.ts';
import type { ResponseControls } from '../../http/response.ts';
import { testGateway } from '../../testing/testGateway.ts';

const errors = declareErrors({ LOCKED: { status: 423 }, BUSY: { status: 503 } });
const t = initTRPC
  .meta<GatewayMeta>()
  .context<{ readonly response: ResponseControls }>()
  .create({
    errorFormatter: ({ shape, error }) => ({
      ...shape,
      ...(error.cause?.message === 'teapot' && { data: { ...shape.data, httpStatus: 418 } }),
    }),
  });
const thrown = {
  expected: () => new TRPCError({ code: 'CONFLICT', message: 'Rex is taken.' }),
  unexpected: () => new Error('select 1'),
  formatter: () => new Error('teapot'),
  declared: () => errors.LOCKED(),
  busy: () => errors.BUSY(),
  large: () => new TRPCError({ code: 'CONFLICT', message: 'x'.repeat(2000) }),
  unnamed: () => new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE', cause: new Error('x') }),
};
const kinds = Object.keys(thrown) as (keyof typeof thrown)[];
const fail = t.procedure.input(z.object({ kind: z.enum(kinds) })).output(z.string());
const at = (path: `/${string}`) => ({ openapi: { method: 'GET', path, successStatus: [200, 202] } }) as const;
interface Call {
  readonly ctx: { readonly response: ResponseControls };
  readonly input: { readonly kind: keyof typeof thrown };
}
/** Sets the status of a success, which an error does not have. */
const throwKind = ({ ctx, input }: Call) => {
  ctx.response.status = 202;
  throw thrown[input.kind]();
};
const toBytes = () => new Uint8Array(1);
const Order = z.object({
  email: z.email(),
  lines: z.array(z.object({ count: z.int().min(1) })),
  account: z.union([z.int(), z.literal('cash')]).optional(),
  barcode: z.bigint().max(5n).optional(),
});
const router = t.router({
  fail: fail.meta(at('/fail')).query(throwKind),
  declares: fail.errors(errors).meta(at('/declares')).query(throwKind),
  own: fail
    .errors(({ shape }) => ({ ...shape, data: { ...shape.data, httpStatus: 451 } }))
    .meta(at('/own'))
    .query(throwKind),
  order: t.procedure
    .meta({ openapi: { method: 'POST', path: '/orders', in: { barcode: 'query' } } })
    .input(Order)
    .output(z.void())
    .mutation(() => {
      const cause = Object.assign(new Error('select left from stock'), { left: 2 });
      throw new TRPCError({ code: 'CONFLICT', message: 'Too few are left.', cause });
    }),
  photo: t.procedure
    .meta({
      openapi: { method: 'GET', path: '/photo', produces: { 'image/png': toBytes, 'image/gif': toBytes } },
    })
    .input(z.void())
    .query(() => new Uint8Array(1)),
});

type Options = Partial<GatewayOptions<typeof router, unknown>>;

async function send(target: string, options: Options, init: RequestInit = {}) {
  const gateway = await testGateway(router, {
    onResponse: () => {},
    maxResponseSize: 1000,
    ...options,
  });
  const response = await gateway.fetch(new Request(`http://statuses.example/v1/${target}`, init));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const formats: readonly (readonly [string, ErrorFormat, (body: Record<string, unknown>) => unknown])[] = [
  ['apiErrors', apiErrors, ({ status }) => status],
  ['problemDetails', problemDetails, ({ status }) => status],
  ['trpcToOpenApiErrors', trpcToOpenApiErrors, ({ data }) => (data as { httpStatus?: unknown }).httpStatus],
];
const targets: readonly (readonly [target: string, init?: RequestInit])[] = [
  ...kinds.flatMap(
    (kind) => [[`fail?kind=${kind}`], [`declares?kind=${kind}`], [`own?kind=${kind}`]] as const,
  ),
  ['fail?kind=x'],
  ['photo', { headers: { accept: 'text/plain' } }],
  ['unknown'],
  ['fail', { method: 'DELETE' }],
];
const completing = (complete: NonNullable<Policy['complete']>) => ({ policies: [{ complete }] });
const variants: readonly (readonly [string, Options])[] = [
  ['no further options', {}],
  ['mapError to a declared error', { mapError: () => errors.LOCKED() }],
  [
    'mapError to a TRPCError',
    { mapError: () => new TRPCError({ code: 'BAD_GATEWAY', message: 'Try later.' }) },
  ],
  ['a responseMeta of tRPC with a status', { trpc: { responseMeta: () => ({ status: 404 }) } }],
  ['a policy that changes the status', completing((_, response) => void (response.status = 410))],
  ['a policy with a status of no code', completing((_, response) => void (response.status = 599))],
];

it.each(
  formats.flatMap(([name, format, statusOf]) =>
    variants.map(([variant, options]) => [`${name} with ${variant}`, format, statusOf, options] as const),
  ),
)(
  'the status of each error response is the one in its body: %s',
  async (_title, errorFormat, statusOf, options) => {
    for (const [target, init] of targets) {
      const { status, body } = await send(target, { errorFormat, ...options }, init);
      expect(status).toBeGreaterThanOrEqual(400);
      // A status that the application's `errorFormatter` writes is sent as trpc-to-openapi sends it.
      if ((body['data'] as { httpStatus?: unknown } | undefined)?.httpStatus === 418) continue;
      expect(statusOf(body)).toBe(status);
    }
  },
);

it.each([
  ['own?kind=expected', {}, 'CONFLICT', 451],
  ['photo', { headers: { accept: 'text/plain' } }, 'NOT_ACCEPTABLE', 406],
])('trpcToOpenApiErrors states one code for %s', async (target, init, code, httpStatus) => {
  const { status, body } = await send(target, { errorFormat: trpcToOpenApiErrors }, init);
  expect(status).toBe(httpStatus);
  expect(body).toMatchObject({ code, data: { code, httpStatus } });
});

it('a policy that hides a 409 as 404 replaces the code and the message too', async () => {
  const options = completing((_, response) => void (response.status = 404));
  expect(await send('fail?kind=expected', options)).toEqual({
    status: 404,
    body: { code: 'NOT_FOUND', message: 'Not found', status: 404 },
  });
});

it('a policy that changes the status and the body of an error keeps its own body', async () => {
  const options = completing((_, response) => {
    response.status = 404;
    response.body = '{"own":true}';
  });
  expect(await send('fail?kind=expected', options)).toEqual({ status: 404, body: { own: true } });
});

const order = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ email: 'ada@example.test', lines: [{ count: 1 }], ...body }),
});
const formatOf = (body: ErrorFormat['body']): ErrorFormat => ({
  contentType: 'application/json',
  schema: z.looseObject({}).meta({ id: 'OwnError' }),
  body,
});

it('an errorFormat receives each invalid field with its path and its code, and the cause, which the default format does not send', async () => {
  const errorFormat = formatOf(({ error, issues }) => ({
    left: (error.cause as { readonly left?: number } | undefined)?.left,
    fields: issues.map(({ path, code }) => [path.join('.'), code]),
  }));
  const invalid = order({ email: 'ada', lines: [{ count: 1 }, { count: 0 }], account: 'credit' });
  const fields = [
    ['email', 'invalid_format'],
    ['lines.1.count', 'too_small'],
    ['account', 'invalid_union'],
  ];
  expect(await send('orders', { errorFormat }, invalid)).toEqual({ status: 400, body: { fields } });
  const taken = await send('orders', { errorFormat }, order({}));
  expect(taken).toEqual({ status: 409, body: { left: 2, fields: [] } });
  const conflict = { code: 'CONFLICT', message: 'Too few are left.', status: 409 };
  expect(await send('orders', {}, order({}))).toEqual({ status: 409, body: conflict });
});

it('trpcToOpenApiErrors has the issues of zod, with the bounds of bigints as text', async () => {
  const { body } = await send('orders?barcode=6', { errorFormat: trpcToOpenApiErrors }, order({}));
  expect(body).toEqual({
    code: 'BAD_REQUEST',
    message: 'Input validation failed',
    data: { code: 'BAD_REQUEST', httpStatus: 400, path: 'order' },
    issues: [expect.objectContaining({ code: 'too_big', maximum: '5', path: ['barcode'] })],
  });
});
