import { inspect } from 'node:util';
import { inputs } from '@petstore/testing/forms';
import { getTRPCErrorFromUnknown, initTRPC, type AnyTRPCProcedure } from '@trpc/server';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isAsyncIterable } from '../http/response.ts';
import { compile } from './compile.ts';
import { execute, Failure } from './execute.ts';
import { createSample } from './selfTest.ts';
import { buildChain, chainPlan, type Chain, type ChainPlan } from './testing/randomChain.ts';

const { procedure: sample } = createSample();

type Call = (read: () => unknown, signal: AbortSignal) => unknown;

/** Formats all outcomes and steps of a chain. It is called twice, since parsers may have state. */
async function transcript(call: Call, plan: ChainPlan, { log, described }: Chain): Promise<string> {
  const outcomes: unknown[] = [];
  const { signal } = new AbortController();
  const read = () => {
    log.push('raw input read');
    if (plan.rawInputThrows) throw new Error('unreadable');
    return plan.isRawInputLate ? Promise.resolve(plan.rawInput) : plan.rawInput;
  };
  for (let time = 0; time < 2; time += 1) {
    const outcome = await call(read, signal);
    outcomes.push(
      outcome instanceof Failure
        ? { error: described(outcome.error) }
        : { data: await dataOf(outcome, described) },
    );
  }
  // Concurrent calls of `next()` interleave their steps in any order.
  const steps = plan.isConcurrent ? log.map((step) => JSON.stringify(step)).toSorted() : log;
  const text = inspect({ outcomes, steps }, { depth: Infinity, sorted: true });
  log.length = 0;
  return text;
}

/** Returns the data of an outcome; for a stream, the values that it yields. */
async function dataOf(data: unknown, described: Chain['described']): Promise<unknown> {
  if (!isAsyncIterable(data)) return data;
  const values: unknown[] = ['a stream'];
  try {
    for await (const value of data) values.push(value);
  } catch (error) {
    values.push(described(error));
  }
  return values;
}

const runs = Number(process.env['CHAINS'] ?? inputs(3000));

test(`${runs} random procedures have the same results and steps as in tRPC`, async () => {
  const counts = { compiled: 0, trpc: 0, unbuilt: 0, withMiddlewares: 0, waiting: 0, withError: 0 };
  const { seed = Date.now() } = fc.readConfigureGlobal();
  const begun = performance.now();
  await fc.assert(
    fc.asyncProperty(chainPlan, async (plan) => {
      // One procedure each, since parsers and formatted errors have state.
      const [trpcChain, gatewayChain] = [buildChain(plan), buildChain(plan)];
      if (trpcChain === undefined || gatewayChain === undefined) {
        counts.unbuilt += 1;
        return;
      }
      const { ctx, batchIndex, type } = plan;
      const trpcCall: Call = async (read, signal) => {
        const getRawInput = async () => read();
        try {
          return await trpcChain.procedure({ ctx, getRawInput, path: 'a.path', type, signal, batchIndex });
        } catch (cause) {
          return new Failure(getTRPCErrorFromUnknown(cause));
        }
      };
      const expected = await transcript(trpcCall, plan, trpcChain);
      const stages = compile(gatewayChain.procedure, sample);
      const procedure = {
        path: 'a.path',
        type,
        meta: gatewayChain.procedure._def.meta,
        procedure: gatewayChain.procedure,
        stages,
      };
      const gatewayCall: Call = (read, signal) => {
        const outcome = execute(procedure, { ctx, read }, batchIndex, { signal });
        if (outcome instanceof Promise) counts.waiting += 0.5;
        return outcome;
      };
      const actual = await transcript(gatewayCall, plan, gatewayChain);
      expect(actual).toBe(expected);
      counts[stages ? 'compiled' : 'trpc'] += 1;
      if (stages && stages.length > 1) counts.withMiddlewares += 1;
      if (actual.includes('error: {')) counts.withError += 1;
    }),
    { numRuns: runs, seed },
  );
  const share = (count: number) => `${Math.round((100 * count) / runs)}%`;
  process.stdout.write(
    `${runs} chains in ${Math.round(performance.now() - begun)} ms (TEST_SEED=${seed}): ` +
      `${Object.entries(counts)
        .map(([name, count]) => `${name} ${share(count)}`)
        .join(', ')}.\n`,
  );
  expect(counts.compiled).toBeGreaterThan(0.8 * (runs - counts.unbuilt));
  expect(counts.withMiddlewares).toBeGreaterThan(0.2 * runs);
}, 600_000);

const t = initTRPC.context<object>().create({ isDev: false });

/** Calls a procedure, by default with a signal of its own. */
function run(
  procedure: AnyTRPCProcedure,
  input: unknown = {},
  context: { readonly signal: AbortSignal } = new AbortController(),
  stages = compile(procedure, sample),
): unknown {
  const executable = { path: 'a.path', type: 'query', meta: undefined, procedure, stages } as const;
  return execute(executable, { ctx: {}, read: () => input }, 0, context);
}

describe('execute', () => {
  test('execute returns an output, or a Failure, without a promise if all steps are synchronous, and does not throw', () => {
    const procedure = t.procedure
      .input(z.object({ a: z.number() }))
      .output(z.object({ b: z.number() }))
      .query(({ input }) => ({ b: input.a, more: 1 }));
    expect(run(procedure, { a: 1 })).toEqual({ b: 1 });
    expect((run(procedure, 5) as Failure).error).toMatchObject({
      code: 'BAD_REQUEST',
      cause: { issues: [{}] },
    });
  });

  test('execute calls a parser that is a function without `this`, as tRPC does', () => {
    const parser = function (this: unknown) {
      return String(this);
    };
    const procedure = t.procedure.input(parser).query(({ input }) => input);
    const stages = compile(procedure, sample);
    // The first call prepares the parser.
    const outputs = [1, 2].map(() => run(procedure, {}, undefined, stages));
    expect(outputs).toEqual(['undefined', 'undefined']);
  });

  test.each<[description: string, thrown: unknown]>([
    ['an object whose message is not a string', { message: Object.create(null) as object }],
    ['a symbol', Symbol('thrown')],
    [
      'an error whose name cannot be read',
      Object.defineProperty(new Error('x'), 'name', { get: () => throwUnreadable() }),
    ],
  ])('execute resolves to a Failure if a procedure throws %s', async (_description, thrown) => {
    const throwing = () => {
      throw thrown;
    };
    for (const base of [t.procedure, t.procedure.use(({ next }) => next())]) {
      for (const resolver of [throwing, async () => throwing()]) {
        for (const procedure of [base.query(resolver), base.input(throwing).query(() => 1)]) {
          expect(await run(procedure)).toBeInstanceOf(Failure);
        }
      }
    }
  });
});

describe('the signal of a resolver’s options', () => {
  type Options = { signal?: AbortSignal | undefined };
  const { signal } = new AbortController();
  const another = new AbortController().signal;

  /** Calls a resolver, and returns its result and how often the signal of the call was read. */
  function callResolver(resolver: (options: Options) => unknown) {
    let reads = 0;
    const context = {
      get signal() {
        reads += 1;
        return signal;
      },
    };
    return { result: run(t.procedure.query(resolver), undefined, context), reads };
  }

  // Elsewhere, to create it takes less than to wait for its reader.
  test.runIf('Bun' in globalThis)('is not created on Bun for a resolver that does not read it', () => {
    expect(callResolver((options) => 'signal' in options)).toEqual({ result: true, reads: 0 });
  });

  test.each<[how: string, read: (options: Options) => unknown]>([
    ['as a parameter', ({ signal: own }) => own],
    ['from a copy', (options) => ({ ...options }).signal],
    [
      'from an object that inherits from the options',
      (options) => (Object.create(options) as Options).signal,
    ],
    ['from a proxy of the options', (options) => new Proxy(options, {}).signal],
  ])('is that of the call, read %s', (_how, read) => {
    expect(callResolver(read).result).toBe(signal);
  });

  test('can be replaced, as any member', () => {
    const { result } = callResolver((options) => {
      options.signal = another;
      return { ...options }.signal;
    });
    expect(result).toBe(another);
  });
});

/** Wrappers that look like the wrapped procedure, and call `note` when they are called. */
const wrappers: Readonly<Record<string, (wrapped: AnyTRPCProcedure, note: () => void) => unknown>> = {
  'a function with the same properties': (wrapped, note) =>
    Object.assign((options: never) => {
      note();
      return wrapped(options) as unknown;
    }, wrapped),
  'a Proxy': (wrapped, note) =>
    new Proxy(wrapped, {
      apply(target, self, options) {
        note();
        return Reflect.apply(target, self, options) as unknown;
      },
    }),
};

describe('execution through tRPC', () => {
  test.each(Object.entries(wrappers))(
    'a procedure wrapped in %s is called through tRPC, once',
    async (_name, wrap) => {
      let calls = 0;
      const procedure = wrap(
        t.procedure.query(() => 'result') as never,
        () => (calls += 1),
      ) as AnyTRPCProcedure;
      expect(compile(procedure, sample)).toBeUndefined();
      expect(await run(procedure)).toBe('result');
      expect(calls).toBe(1);
    },
  );

  test('a procedure with a changed resolver middleware is called through tRPC', () => {
    const procedure = t.procedure.query(() => 1) as unknown as { _def: { middlewares: unknown[] } };
    procedure._def.middlewares[0] = async () => ({ ok: true, data: 2 });
    expect(compile(procedure as unknown as AnyTRPCProcedure, sample)).toBeUndefined();
  });
});

function throwUnreadable(): never {
  throw new Error('The name was read');
}
