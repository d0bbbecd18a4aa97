import { initTRPC, TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { describe, expect, test } from 'vitest';
import { compile } from './compile.ts';
import { execute, Failure, type Executable } from './execute.ts';
import { createSample } from './selfTest.ts';

const t = initTRPC.context<object>().create({ isDev: false });
const { procedure: sample } = createSample();

const stagesOf = (procedure: unknown) => compile(procedure as AnyTRPCProcedure, sample);

function executable(procedure: unknown): Executable {
  const stages = stagesOf(procedure);
  return { path: 'a', type: 'query', meta: undefined, procedure: procedure as AnyTRPCProcedure, stages };
}

const { signal } = new AbortController();
const call = (procedure: Executable) => execute(procedure, { ctx: {}, read: () => undefined }, 0, { signal });

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
  'a function that throws': (wrapped, note) => {
    const procedure = (_options: never): unknown => {
      note();
      throw new TRPCError({ code: 'CONFLICT' });
    };
    return Object.assign(procedure, wrapped);
  },
};

describe('execution through tRPC', () => {
  test.each(Object.entries(wrappers))(
    'a procedure wrapped in %s is called through tRPC, once',
    async (wrapper, wrap) => {
      let calls = 0;
      const wrapped = executable(wrap(t.procedure.query(() => 'result') as never, () => (calls += 1)));
      expect(wrapped.stages).toBeUndefined();
      const outcome = await call(wrapped);
      expect(outcome instanceof Failure ? outcome.error.code : outcome).toBe(
        wrapper === 'a function that throws' ? 'CONFLICT' : 'result',
      );
      expect(calls).toBe(1);
    },
  );

  test('a procedure with a changed resolver middleware is called through tRPC', () => {
    const procedure = t.procedure.query(() => 1) as unknown as { _def: { middlewares: unknown[] } };
    procedure._def.middlewares[0] = async () => ({ ok: true, data: 2 });
    expect(stagesOf(procedure)).toBeUndefined();
  });
});
