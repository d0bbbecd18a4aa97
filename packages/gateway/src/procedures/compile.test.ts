import { initTRPC, TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { createInputMiddleware } from '@trpc/server/unstable-core-do-not-import';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compile } from './compile.ts';
import { execute, Failure, type Executable } from './execute.ts';
import { readProcedures } from './procedures.ts';
import { createSample } from './selfTest.ts';

const t = initTRPC.context<object>().create({ isDev: false });
const { procedure: sample } = createSample();

const stagesOf = (procedure: unknown) => compile(procedure as AnyTRPCProcedure, sample);

function executable(procedure: unknown): Executable {
  const stages = stagesOf(procedure);
  return { path: 'a', type: 'query', meta: undefined, procedure: procedure as AnyTRPCProcedure, stages };
}

const { signal } = new AbortController();
const call = (procedure: Executable) => execute(procedure, {}, { read: () => undefined }, 0, { signal });

describe('a procedure is compiled', () => {
  const pass = t.middleware(({ next }) => next());
  test.each<[what: string, procedure: unknown, stages: number]>([
    ['without input', t.procedure.query(() => 1), 1],
    [
      'with inputs and an output',
      t.procedure
        .input(z.object({}))
        .input(z.object({}))
        .output(z.number())
        .query(() => 1),
      1,
    ],
    [
      'with two middlewares',
      t.procedure
        .use(pass)
        .input(z.object({}))
        .use(pass)
        .mutation(() => 1),
      3,
    ],
    [
      'with an input middleware of another library',
      t.procedure.use(createInputMiddleware(Number) as never).query(() => 1),
      2,
    ],
    ['that is a subscription', t.procedure.subscription(async function* () {}), 1],
  ])('%s', (_what, procedure, stages) => {
    expect(stagesOf(procedure)).toHaveLength(stages);
  });
});

/** Wrappers that look like what they wrap, and note that they were called. */
const wrappers: Readonly<Record<string, (wrapped: AnyTRPCProcedure, note: () => void) => unknown>> = {
  'a function with the same properties': (wrapped, note) =>
    Object.assign((options: never) => {
      note();
      return wrapped(options) as unknown;
    }, wrapped),
  'an async function of the same name': (wrapped, note) => {
    async function procedure(options: never): Promise<unknown> {
      note();
      return wrapped(options) as unknown;
    }
    return Object.assign(procedure, wrapped);
  },
  'a function that calls it later': (wrapped, note) => {
    async function procedure(options: never): Promise<unknown> {
      await Promise.resolve();
      note();
      return wrapped(options) as unknown;
    }
    return Object.assign(procedure, wrapped);
  },
  'a Proxy': (wrapped, note) =>
    new Proxy(wrapped, {
      apply(target, self, options) {
        note();
        return Reflect.apply(target, self, options) as unknown;
      },
    }),
  'a function that throws': (wrapped, note) => {
    const procedure = (_options: never): unknown => {
      note();
      throw new TRPCError({ code: 'CONFLICT' });
    };
    return Object.assign(procedure, wrapped);
  },
};

describe('a procedure is called as tRPC exposes it', () => {
  test.each(Object.entries(wrappers))('where it is wrapped in %s', async (what, wrap) => {
    let calls = 0;
    const wrapped = executable(wrap(t.procedure.query(() => 'result') as never, () => (calls += 1)));
    expect(wrapped.stages).toBeUndefined();
    // A look-alike has been called to find out.
    await new Promise(setImmediate);
    calls = 0;
    const outcome = await call(wrapped);
    expect(outcome instanceof Failure ? outcome.error.code : outcome).toBe(
      what === 'a function that throws' ? 'CONFLICT' : 'result',
    );
    expect(calls).toBe(1);
  });

  test('where it has a caller of its own (experimental_caller)', async () => {
    const invoked = t.procedure.experimental_caller(async ({ args, invoke }) => [
      await invoke(args[0] as never),
    ]);
    const procedure = executable(invoked.query(() => 'result'));
    expect(procedure.stages).toBeUndefined();
    expect(await call(procedure)).toEqual(['result']);
  });

  test('where its resolver step is not what tRPC makes', () => {
    const procedure = t.procedure.query(() => 1) as unknown as { _def: { middlewares: unknown[] } };
    procedure._def.middlewares[0] = async () => ({ ok: true, data: 2 });
    expect(stagesOf(procedure)).toBeUndefined();
  });
});

test('whether a procedure is wrapped is found out without a step of it', () => {
  const steps: string[] = [];
  const step = (name: string) => (value: unknown) => {
    steps.push(name);
    return value;
  };
  const procedure = t.procedure
    .use(({ next }) => {
      step('middleware')(1);
      return next();
    })
    .input(step('input'))
    .output(step('output'))
    .query(step('resolver'));
  expect(stagesOf(procedure)).toHaveLength(2);
  expect(steps).toEqual([]);
});

test('Error.stackTraceLimit is kept', () => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    expect(stagesOf(t.procedure.query(() => 1))).toHaveLength(1);
    expect(stagesOf(wrappers['a Proxy']?.(t.procedure.query(() => 1) as never, () => {}))).toBeUndefined();
    expect(Error.stackTraceLimit).toBe(0);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
});

test('each procedure of a router says how it is executed', async () => {
  const plain = t.procedure.query(() => 1);
  const router = t.router({ plain });
  (router._def.procedures as Record<string, unknown>)['wrapped'] = wrappers['a Proxy']?.(
    plain as never,
    () => {},
  );
  const procedures = await readProcedures(router);
  expect(procedures.map(({ path, execution }) => [path, execution])).toEqual([
    ['plain', 'compiled'],
    ['wrapped', 'trpc'],
  ]);
});
