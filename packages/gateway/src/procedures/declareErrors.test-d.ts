import { initTRPC, type inferProcedureErrorShape, type TRPCDefaultErrorShape } from '@trpc/server';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { declareErrors, type DeclaredErrorShape } from './declareErrors.ts';

const errors = declareErrors({
  OUT_OF_STOCK: { status: 409, data: z.object({ left: z.int() }) },
  SHOP_CLOSED: { status: 423 },
});
const t = initTRPC.create();
const router = t.router({
  order: t.procedure.errors(errors).mutation(() => 1),
  ping: t.procedure.query(() => 1),
});
type ShapeOf<Name extends 'order' | 'ping'> = inferProcedureErrorShape<
  typeof router,
  (typeof router)['_def']['record'][Name]
>;

test('a client narrows the declared errors of the called procedure, and not those of others', () => {
  type OutOfStock = { status: 409; data: z.ZodObject<{ left: z.ZodInt }> };
  expectTypeOf<ShapeOf<'order'>>().toEqualTypeOf<
    | TRPCDefaultErrorShape
    | DeclaredErrorShape<'OUT_OF_STOCK', OutOfStock>
    | DeclaredErrorShape<'SHOP_CLOSED', { status: 423 }>
  >();
  expectTypeOf<ShapeOf<'ping'>>().toEqualTypeOf<TRPCDefaultErrorShape>();
  type Declared = Extract<ShapeOf<'order'>['data'], { code: 'OUT_OF_STOCK' }>;
  expectTypeOf<Declared['data']>().toEqualTypeOf<{ left: number }>();
  expectTypeOf<Declared['httpStatus']>().toEqualTypeOf<409>();
});

test('an undeclared code, wrong data and a code of tRPC do not compile', () => {
  // @ts-expect-error -- not declared
  void errors.SOLD_OUT;
  expectTypeOf(errors.OUT_OF_STOCK).parameter(0).toExtend<{ data: { left: number } }>();
  expectTypeOf(errors.SHOP_CLOSED).parameter(0).not.toHaveProperty('data');
  // @ts-expect-error -- one of tRPC's codes
  declareErrors({ NOT_FOUND: { status: 404 } });
  // @ts-expect-error -- not in upper case
  declareErrors({ soldOut: { status: 409 } });
});
