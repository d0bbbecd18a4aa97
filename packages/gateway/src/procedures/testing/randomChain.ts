import { initTRPC, TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { createInputMiddleware, createOutputMiddleware } from '@trpc/server/unstable-core-do-not-import';
import fc from 'fast-check';
import { z } from 'zod';
import { isAsyncIterable } from '../../http/response.ts';

/** The steps of a chain in order, with the values that each of them received. */
type Log = unknown[];

/** Creates the values that a chain throws. Once per chain, since causes are compared by identity. */
const createThrown = () => ({
  error: new Error('an error'),
  trpc: new TRPCError({ code: 'CONFLICT', message: 'a conflict' }),
  withCause: new TRPCError({ code: 'FORBIDDEN', cause: new Error('its cause') }),
  string: 'a string',
  nothing: undefined,
  null: null,
  object: { message: 'an object', extra: 1 },
  number: 5,
});
type Thrown = ReturnType<typeof createThrown>;
const throwables = Object.keys(createThrown()) as (keyof Thrown)[];

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));
// oxlint-disable-next-line unicorn/no-thenable -- as from a query builder: not a promise, but awaited
const thenable = (value: unknown) => ({ then: (resolve: (value: unknown) => void) => resolve(value) });

/** Converts a value to one that can be logged and compared. */
const loggable = (value: unknown) => (isAsyncIterable(value) || value instanceof Promise ? 'waits' : value);

/** The options of a middleware or a resolver, untyped, since the chains use them in violation of tRPC’s types. */
// oxlint-disable-next-line typescript/no-explicit-any -- chains are put together at random
type Loose = any;

const describeOptions = (options: Loose) => ({
  keys: Object.keys(options).toSorted(),
  path: options.path,
  type: options.type,
  batchIndex: options.batchIndex,
  isSignal: options.signal instanceof AbortSignal,
  meta: options.meta,
  ctx: structuredClone(options.ctx),
  input: structuredClone(options.input),
});

const describeResult = (result: Loose) =>
  typeof result === 'object' && result !== null
    ? { keys: Object.keys(result).toSorted(), ok: result.ok, marker: result.marker, ctx: result.ctx }
    : result;

const middlewares: Record<string, (options: Loose, log: Log, thrown: Thrown) => unknown> = {
  passes: ({ next }) => next(),
  'passes, async': async ({ next }) => {
    await pause();
    return next();
  },
  'sees the result': async ({ next }, log) => {
    const result = await next();
    log.push(['result', describeResult(result)]);
    return result;
  },
  'works while the rest runs': ({ next }, log) => {
    const pending = next();
    log.push('meanwhile');
    return pending;
  },
  'adds to the context': ({ next, ctx }) => next({ ctx: { ...ctx, depth: (ctx?.depth ?? 0) + 1 } }),
  'replaces the input': ({ next }) => next({ input: { replaced: true, a: 7 } }),
  'replaces the input with nothing': ({ next }) => next({ input: undefined }),
  'replaces the raw input': ({ next }) => next({ getRawInput: async () => ({ a: 2, b: 'raw' }) }),
  'reads the raw input': async ({ next, getRawInput }, log) => {
    log.push(['raw', await getRawInput(), (await getRawInput()) === (await getRawInput())]);
    return next();
  },
  'calls next twice': async ({ next }) => {
    await next();
    return next({ ctx: { second: true } });
  },
  'calls next twice at once': async ({ next }) => (await Promise.all([next(), next({ ctx: { b: 1 } })]))[0],
  'returns nothing': () => undefined,
  'returns a result of its own': () => ({
    ok: true,
    data: { a: 1, b: 'own' },
    marker: 'middlewareMarker',
  }),
  'rescues what fails': async ({ next }) => {
    const result = await next();
    return result.ok ? result : { ...result, ok: true, data: { a: 0, b: 'rescued' } };
  },
  'changes the output': async ({ next }) => {
    const result = await next();
    return result.ok ? { ...result, data: { ...result.data, changed: true } } : result;
  },
  'changes its options': (options) => {
    options.ctx = { stolen: true };
    options.input = 'stolen';
    return options.next();
  },
  'calls next with a number': ({ next }) => next(5),
  'spreads its options': (options, log) => {
    const { signal, ...rest } = { ...options };
    log.push(['spread', Object.keys(rest).toSorted(), signal === options.signal, rest.ctx === options.ctx]);
    return rest.next();
  },
  'replaces the raw input late': async ({ next, getRawInput }, log) => {
    const raw = await getRawInput();
    return next({
      getRawInput: async () => {
        await pause();
        log.push('another raw input read');
        return { ...raw, a: 3 };
      },
    });
  },
  'replaces the raw input with an error': ({ next }, _log, thrown) =>
    next({ getRawInput: () => Promise.reject(thrown.object) }),
  'returns a failure of its own': async (_options, _log, thrown) => ({
    ok: false,
    error: thrown.trpc,
    marker: 'middlewareMarker',
  }),
  'returns a failure without an error': () => ({ ok: false, marker: 'middlewareMarker' }),
  'returns data that is pending': () => ({
    ok: true,
    data: pause().then(() => ({ a: 1 })),
    marker: 'middlewareMarker',
  }),
  'returns data that rejects': (_options, _log, thrown) => {
    const data = pause().then(() => Promise.reject(thrown.error));
    // Another middleware may drop it.
    data.catch(() => {});
    return { ok: true, data, marker: 'middlewareMarker' };
  },
  'returns a thenable': (options) => thenable(options.next()),
  'replaces an error': async ({ next }, _log, thrown) => {
    const result = await next();
    return result.ok ? result : { ...result, error: thrown.withCause };
  },
  'retries what fails': async ({ next }) => {
    const result = await next();
    return result.ok ? result : next({ input: { a: 4 } });
  },
};

const parsers: Record<string, (log: Log, thrown: Thrown) => Loose> = {
  'an object': () => z.object({ a: z.number() }),
  'another object': () => z.object({ b: z.string().optional() }),
  'a default': () => z.object({ c: z.number().default(3) }),
  'a transform': () => z.looseObject({}).transform((value) => ({ ...value, transformed: true })),
  'an async transform': () => z.looseObject({}).transform(async (value) => ({ ...value, later: true })),
  'an async refinement': (log) =>
    z.looseObject({}).refine(async () => {
      await pause();
      log.push('refined');
      return true;
    }),
  'a refinement that throws': (_log, thrown) =>
    z.looseObject({}).refine(() => {
      throw thrown.error;
    }),
  'a string': () => z.string(),
  anything: () => z.unknown(),
  'a function': (log) => (value: unknown) => {
    log.push(['parsed', loggable(value)]);
    return value;
  },
  'an async function': (log) => async (value: unknown) => {
    log.push(['parsing', loggable(value)]);
    await pause();
    return value;
  },
  'a function that throws': (_log, thrown) => () => {
    throw thrown.string;
  },
  'a function that throws a TRPCError': (_log, thrown) => () => {
    throw thrown.trpc;
  },
  'a parser with parseAsync': () => ({ parseAsync: async (value: object) => ({ ...value, parsed: 2 }) }),
  'a parser with assert': (_log, thrown) => ({
    assert(value: Loose) {
      if (value?.a !== 1) throw thrown.error;
    },
  }),
  'a function that is a standard schema': () =>
    Object.assign(() => 'not called', {
      '~standard': {
        version: 1,
        vendor: 'here',
        validate: async (value: Loose) =>
          value?.a === 1 ? { value } : { issues: [{ message: 'must be 1', path: ['a'] }] },
      },
    }),
};

const resolvers: Record<string, (options: Loose) => unknown> = {
  'gives what it saw': ({ ctx, input }) => ({ a: 1, b: 'x', ctx, input }),
  'gives it later': async ({ ctx, input }) => {
    await pause();
    return { a: 1, ctx, input };
  },
  'gives a thenable': () => thenable({ a: 1, b: 'thenable' }),
  'gives nothing': () => undefined,
  'gives an array': ({ input }) => [input],
  'reads the raw input': async ({ getRawInput }) => ({ a: 1, raw: await getRawInput() }),
  'changes its options': (options) => {
    options.ctx = { stolen: true };
    return { a: 1, b: 'changed' };
  },
  'gives a stream': async function* () {
    yield 1;
  },
  'calls next': async ({ next }) => ({ a: 1, ok: (await next()).ok }),
};

type Element =
  | { readonly kind: 'input' | 'output'; readonly name: string }
  | { readonly kind: 'use'; readonly name: string }
  | { readonly kind: 'throw'; readonly name: keyof Thrown; readonly isLate: boolean }
  | { readonly kind: 'errors' | 'own parser' | 'own output parser' | 'meta' };

export interface ChainPlan {
  readonly elements: readonly Element[];
  readonly resolver: string | { readonly throws: keyof Thrown; readonly isLate: boolean };
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly hasCaller: boolean;
  readonly rawInput: unknown;
  readonly ctx: unknown;
  readonly batchIndex: number;
  readonly rawInputThrows: boolean;
  readonly isRawInputLate: boolean;
  /** Whether a middleware calls `next()` while another runs. */
  readonly isConcurrent: boolean;
}

const name = (table: object) => fc.constantFrom(...Object.keys(table));
const parserElement = fc.record({ kind: fc.constantFrom('input', 'output'), name: name(parsers) });
const output = fc.record({ kind: fc.constant('output' as const), name: name(parsers) });
const use = fc.record({ kind: fc.constant('use' as const), name: name(middlewares) });
const element = fc.oneof(
  { weight: 6, arbitrary: parserElement },
  { weight: 4, arbitrary: use },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('throw' as const),
      name: fc.constantFrom(...throwables),
      isLate: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('errors', 'own parser', 'own output parser', 'meta'),
    }),
  },
) as fc.Arbitrary<Element>;

/** Removes all outputs but the first: tRPC does not build a procedure with two. */
function withOneOutput(elements: readonly Element[]): readonly Element[] {
  const first = elements.find(({ kind }) => kind === 'output');
  return elements.filter((each) => each.kind !== 'output' || each === first);
}

export const chainPlan: fc.Arbitrary<ChainPlan> = fc
  .record({
    // Half of them have no middleware of their own.
    elements: fc.oneof(
      fc.array(parserElement as fc.Arbitrary<Element>, { maxLength: 4 }),
      fc.array(element, { maxLength: 5 }),
      // An output parser that parses the results of middlewares.
      fc.tuple(output, use, element) as fc.Arbitrary<Element[]>,
    ),
    resolver: fc.oneof(
      { weight: 4, arbitrary: name(resolvers) },
      { weight: 1, arbitrary: fc.record({ throws: fc.constantFrom(...throwables), isLate: fc.boolean() }) },
    ),
    type: fc.constantFrom('query', 'mutation', 'subscription'),
    hasCaller: fc.integer({ min: 0, max: 19 }).map((number) => number === 0),
    rawInput: fc.oneof(
      { weight: 5, arbitrary: fc.constant({ a: 1, b: 'b', more: [1] }) },
      { weight: 1, arbitrary: fc.constantFrom(undefined, null, {}, 'text', [1], { a: 'wrong' }) },
    ),
    ctx: fc.constantFrom({ user: 'ann', depth: 0 }, {}, undefined),
    batchIndex: fc.nat(9),
    rawInputThrows: fc.integer({ min: 0, max: 19 }).map((number) => number === 0),
    isRawInputLate: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  })
  .map((plan) => {
    const elements = withOneOutput(plan.elements);
    const isConcurrent = elements.some(
      (each) => each.kind === 'use' && each.name === 'calls next twice at once',
    );
    return Object.assign(plan, { elements, isConcurrent });
  });

const { procedure: root } = initTRPC.context<object>().meta<Loose>().create({ isDev: false });

export interface Chain {
  readonly procedure: AnyTRPCProcedure;
  /** The steps since the log was last emptied. */
  readonly log: Log;
  /** Describes an error in a form that can be compared with another chain's. */
  readonly described: (error: unknown) => unknown;
}

/** Builds a procedure from a plan. `undefined` if tRPC cannot build it. */
export function buildChain(plan: ChainPlan): Chain | undefined {
  const log: Log = [];
  const thrown = createThrown();
  const add = (builder: Loose, part: Element, index: number): Loose => {
    switch (part.kind) {
      case 'input':
      case 'output':
        return builder[part.kind](parsers[part.name]?.(log, thrown));
      case 'use': {
        const middleware = middlewares[part.name];
        return builder.use((options: Loose) => {
          log.push([part.name, index, describeOptions(options)]);
          return middleware?.(options, log, thrown);
        });
      }
      case 'throw':
        return builder.use(({ next }: Loose) => {
          if (!part.isLate) throw thrown[part.name];
          return next().then(() => Promise.reject(thrown[part.name]));
        });
      case 'errors':
        return builder.errors(({ shape, error }: Loose) => {
          log.push(['formatted', error.code]);
          return { ...shape, formatted: true };
        });
      case 'own parser':
        return builder.use(createInputMiddleware(async (value: unknown) => value) as Loose);
      case 'own output parser':
        return builder.use(createOutputMiddleware(async (value: unknown) => value) as Loose);
      default:
        return builder.meta({ [`meta${index}`]: index });
    }
  };
  let builder: Loose;
  try {
    builder = plan.elements.reduce(add, root as Loose);
  } catch {
    // For example, because of `.errors()`, which tRPC has since 11.22.1.
    return undefined;
  }
  if (plan.hasCaller) {
    builder = builder.experimental_caller(async ({ args, invoke }: Loose) => {
      log.push('caller');
      return invoke(args[0]);
    });
  }
  const { resolver } = plan;
  const procedure = builder[plan.type]((options: Loose) => {
    log.push(['resolver', describeOptions(options)]);
    if (typeof resolver === 'string') return resolvers[resolver]?.(options);
    if (!resolver.isLate) throw thrown[resolver.throws];
    return pause().then(() => Promise.reject(thrown[resolver.throws]));
  }) as AnyTRPCProcedure;
  return { procedure, log, described: (error) => described(error, thrown) };
}

/** Describes an error. A thrown value is described by its name, so that causes are compared by identity. */
function described(error: unknown, thrown: Thrown): unknown {
  for (const [key, value] of Object.entries(thrown)) if (Object.is(error, value)) return `thrown ${key}`;
  if (!(error instanceof Error)) return { value: error };
  return {
    isTRPCError: error instanceof TRPCError,
    name: error.name,
    code: (error as { readonly code?: unknown }).code,
    message: error.message,
    // tRPC stores the shape of a formatter under a symbol.
    marks: Object.getOwnPropertySymbols(error).length,
    cause: error.cause === undefined ? undefined : described(error.cause, thrown),
  };
}
