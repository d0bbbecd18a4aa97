import { TRPCError, initTRPC, type AnyTRPCProcedure } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { declareErrors, type ErrorDefinitions } from './declareErrors.ts';
import { readErrors } from './readErrors.ts';
import { readDefinition } from './compile.ts';

const errors = declareErrors({
  OUT_OF_STOCK: { status: 409, message: 'Too few are left.', data: z.object({ left: z.int() }) },
  SHOP_CLOSED: { status: 423 },
  DISK_FULL: { status: 507 },
});
const defaultShape = {
  message: '',
  code: -32_603,
  data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 },
} as const;

it('a declared error is a TRPCError with the code of its status, or the closest one', () => {
  const all = [errors.OUT_OF_STOCK({ data: { left: 2 } }), errors.SHOP_CLOSED(), errors.DISK_FULL()];
  expect(all.every((error) => error instanceof TRPCError)).toBe(true);
  expect(all.map(({ code }) => code)).toEqual(['CONFLICT', 'BAD_REQUEST', 'INTERNAL_SERVER_ERROR']);
});

it('the formatter of declareErrors shapes the errors of its own definitions, and returns undefined for others', () => {
  const { data: _, ...others } = errors.SHOP_CLOSED();
  const same = declareErrors({ SHOP_CLOSED: { status: 423 } });
  expect(errors({ error: errors.SHOP_CLOSED(), shape: defaultShape })).toEqual({
    ...defaultShape,
    data: { code: 'SHOP_CLOSED', httpStatus: 423 },
  });
  expect(errors({ error: same.SHOP_CLOSED(), shape: defaultShape })).toBeUndefined();
  expect(
    errors({ error: Object.assign(new TRPCError({ code: 'CONFLICT' }), others), shape: defaultShape }),
  ).toBeUndefined();
});

it.each<[definitions: ErrorDefinitions, message: string]>([
  ...['NOT_FOUND', 'NOT_ACCEPTABLE', 'soldOut', ''].map((code): [ErrorDefinitions, string] => [
    { [code]: { status: 404 } },
    `The code of the declared error "${code}" is reserved or invalid. Use upper-case letters, digits and underscores, such as OUT_OF_STOCK, but no code of tRPC.`,
  ]),
  ...[
    ...[200, 399, 600, 400.5].map((status) => ({ status })),
    { status: 404, data: { left: 1 } as never },
  ].map((GONE): [ErrorDefinitions, string] => [
    { GONE },
    'The declared error GONE needs an HTTP status from 400 to 599, and its data, if any, must be a schema of zod, such as z.object({ … }).',
  ]),
])('declareErrors rejects %j', (definitions, message) => {
  expect(() => declareErrors(definitions as never)).toThrow(new TypeError(message));
});

const t = initTRPC.context<{ user: { name: string } }>().create();
const read = (procedure: AnyTRPCProcedure) => readErrors('a', readDefinition(procedure));

const GONE = { status: 410 } as const;
const CLOSED = { status: 423 } as const;

it('readErrors merges the errors of all .errors() of a procedure, before and after inputs and middlewares, and rejects two of one code', async () => {
  const procedure = t.procedure
    .errors(declareErrors({ GONE }))
    .input((value: unknown) => value)
    .use(({ next }) => next())
    .errors(declareErrors({ CLOSED }))
    .query(() => 1);
  expect(await read(procedure)).toEqual({ GONE, CLOSED });
  const again = t.procedure.errors(declareErrors({ GONE })).errors(declareErrors({ GONE: CLOSED }));
  await expect(read(again.query(() => 1))).rejects.toThrow(
    'Procedure "a" declares the error GONE twice, with different definitions. Rename one of them.',
  );
});

it('readErrors calls a custom formatter once, with an INTERNAL_SERVER_ERROR, and ignores what it throws', async () => {
  const formatter = vi.fn<() => undefined>(() => undefined);
  const procedure = t.procedure
    .errors(declareErrors({ GONE }))
    .errors(formatter)
    .errors(({ ctx, shape }) => ({ ...shape, data: { name: ctx.user.name } }))
    .query(() => 1);
  expect(await read(procedure)).toEqual({ GONE });
  expect(formatter).toHaveBeenCalledTimes(1);
  expect(formatter).toHaveBeenCalledWith(
    expect.objectContaining({ error: expect.objectContaining({ code: 'INTERNAL_SERVER_ERROR' }), path: 'a' }),
  );
});
