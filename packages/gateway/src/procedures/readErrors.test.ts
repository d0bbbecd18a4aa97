import { initTRPC, type AnyTRPCProcedure } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import { declareErrors } from './declareErrors.ts';
import { GatewayError } from '../http/gatewayError.ts';
import type { GatewayMeta } from './meta.ts';
import { readErrors } from './readErrors.ts';
import { readDefinition } from './compile.ts';

const t = initTRPC.context<{ user: { name: string } }>().meta<GatewayMeta>().create();
function read(procedure: AnyTRPCProcedure) {
  const definition = readDefinition(procedure);
  return readErrors('a', definition, (definition.meta as GatewayMeta | undefined)?.errors);
}

const GONE = { status: 410 } as const;
const CLOSED = { status: 423 } as const;

it('readErrors returns undefined for a procedure without .errors()', async () => {
  expect(await read(t.procedure.query(() => 1))).toBeUndefined();
});

it('readErrors merges the errors of all .errors() of a procedure, before and after inputs and middlewares', async () => {
  const procedure = t.procedure
    .errors(declareErrors({ GONE }))
    .input((value: unknown) => value)
    .use(({ next }) => next())
    .errors(declareErrors({ CLOSED }))
    .query(() => 1);
  expect(await read(procedure)).toEqual({ GONE, CLOSED });
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

it('readErrors reads the declared errors of a procedure that also has a formatter for every error', async () => {
  const procedure = t.procedure
    .errors(declareErrors({ GONE }))
    .errors(({ shape }) => shape)
    .query(() => 1);
  expect(await read(procedure)).toEqual({ GONE });
});

it('readErrors accepts a definition that is declared twice, and merges the errors of the metadata', async () => {
  const errors = declareErrors({ GONE });
  const procedure = t.procedure
    .meta({ errors: { CLOSED } })
    .errors(errors)
    .errors(errors)
    .query(() => 1);
  expect(await read(procedure)).toEqual({ GONE, CLOSED });
});

it('readErrors rejects an invalid definition in the metadata with a GatewayError that names the procedure', async () => {
  const procedure = t.procedure
    .meta({ errors: { NOT_FOUND: { status: 404 } } })
    .errors(({ shape }) => shape)
    .query(() => 1);
  const error: unknown = await read(procedure).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(GatewayError);
  expect((error as GatewayError).message).toBe(
    'Procedure "a": The code of the declared error NOT_FOUND is reserved by tRPC or the gateway. Choose another code, such as PET_NOT_FOUND.',
  );
});
