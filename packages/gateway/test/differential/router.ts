import { initTRPC, lazy, TRPCError } from '@trpc/server';
import { octetInputParser } from '@trpc/server/http';
import type { TRPC_ERROR_CODE_KEY } from '@trpc/server/rpc';
import { z } from 'zod';

/** The context that both servers create from the request. */
export interface Context {
  readonly batch: boolean;
  readonly calls: readonly string[];
  readonly url: string | null | undefined;
}

const t = initTRPC.context<Context>().create({
  isDev: false,
  errorFormatter: ({ shape, error, input }) =>
    error.message === 'formatted'
      ? { ...shape, data: { ...shape.data, extra: 'from the formatter', input } }
      : shape,
});

/** All codes of `TRPCError`, each with its own status. */
export const errorCodes = [
  'PARSE_ERROR',
  'BAD_REQUEST',
  'INTERNAL_SERVER_ERROR',
  'NOT_IMPLEMENTED',
  'BAD_GATEWAY',
  'SERVICE_UNAVAILABLE',
  'GATEWAY_TIMEOUT',
  'UNAUTHORIZED',
  'PAYMENT_REQUIRED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_SUPPORTED',
  'TIMEOUT',
  'CONFLICT',
  'PRECONDITION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNPROCESSABLE_CONTENT',
  'PRECONDITION_REQUIRED',
  'TOO_MANY_REQUESTS',
  'CLIENT_CLOSED_REQUEST',
] as const satisfies readonly TRPC_ERROR_CODE_KEY[];

const tagged = t.procedure.use(async ({ next, ctx }) => {
  const result = await next({ ctx: { ...ctx, tag: 'from the middleware' } });
  return result;
});

export const differentialRouter = t.router({
  hello: t.procedure.query(() => 'world'),
  nothing: t.procedure.query(() => undefined),
  nil: t.procedure.query(() => null),
  at: t.procedure.query(() => new Date(0)),
  text: t.procedure.query(() => 'ü 🐶 \u2028 </script> "\\'),
  big: t.procedure.query(() => 10n),
  echo: t.procedure.input(z.unknown()).query(({ input }) => ({ input, type: typeof input })),
  add: t.procedure
    .input(z.object({ a: z.int(), b: z.int().default(1) }))
    .output(z.number())
    .query(({ input }) => input.a + input.b),
  optional: t.procedure.input(z.object({ n: z.number() }).optional()).query(({ input }) => input ?? 'none'),
  strict: t.procedure.input(z.strictObject({ n: z.number() })).query(({ input }) => input),
  chained: t.procedure
    .input(z.object({ a: z.string() }))
    .input(z.object({ b: z.string() }))
    .query(({ input }) => input),
  transformed: t.procedure.input(z.string().transform(Number)).query(({ input }) => input),
  refined: t.procedure
    .input(z.string().refine(async (value) => value === 'good', 'is not good'))
    .query(({ input }) => input),
  lies: t.procedure.output(z.object({ ok: z.boolean() })).query(() => ({ ok: 'yes' as unknown as boolean })),
  trims: t.procedure.output(z.object({ a: z.number() })).query(() => ({ a: 1, secret: 2 })),
  context: t.procedure.query(({ ctx }) => ctx),
  tagged: tagged.query(({ ctx }) => ctx.tag),
  write: t.procedure.input(z.object({ name: z.string() })).mutation(({ input }) => ({ id: 1, ...input })),
  touch: t.procedure.mutation(() => undefined),
  upload: t.procedure.input(z.instanceof(FormData)).mutation(({ input }) => [...input.keys()]),
  bytes: t.procedure
    .input(octetInputParser)
    .mutation(async ({ input }) => (await new Response(input).text()).length),
  iterable: t.procedure.query(async function* () {
    yield 1;
  }),
  ticks: t.procedure.subscription(async function* () {
    yield 1;
  }),
  throwCode: t.procedure.input(z.enum(errorCodes)).query(({ input }) => {
    throw new TRPCError({ code: input, message: `This is ${input}` });
  }),
  throws: t.procedure.input(z.enum(['error', 'text', 'nothing', 'formatted'])).query(({ input }) => {
    if (input === 'error') throw new Error('unexpected');
    if (input === 'formatted') throw new TRPCError({ code: 'CONFLICT', message: 'formatted' });
    // oxlint-disable-next-line typescript/only-throw-error -- libraries throw such values
    throw input === 'text' ? 'just text' : undefined;
  }),
  deep: t.router({ er: t.router({ hello: t.procedure.query(() => 'from below') }) }),
  later: lazy(async () => ({ default: t.router({ hello: t.procedure.query(() => 'loaded') }) })),
});
