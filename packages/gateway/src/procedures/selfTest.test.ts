import { initTRPC } from '@trpc/server';
import { expect, test, vi } from 'vitest';
import { readProcedures } from './procedures.ts';
import { createSample, selfTest, type SampleProcedure } from './selfTest.ts';
import type { ProcedureDefinition } from './compile.ts';

const t = initTRPC.create();
const router = t.router({ first: t.procedure.query(() => 1), second: t.procedure.query(() => 2) });

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Mutable = Writable<ProcedureDefinition> & { middlewares: ProcedureDefinition['middlewares'][number][] };

/** Creates a sample with a changed `_def`, as from another version of tRPC. */
function withDefinition(change: (definition: Mutable, sample: SampleProcedure) => void): SampleProcedure {
  const sample = createSample();
  change(sample.procedure._def as unknown as Mutable, sample);
  return sample;
}

/** Creates a sample with another call function, as from another version of tRPC. */
function withCall(call: (sample: SampleProcedure, options: { ctx: object }) => unknown): SampleProcedure {
  const sample = createSample();
  const { procedure } = sample;
  async function stub(options: { ctx: object }): Promise<unknown> {
    return call(sample, options);
  }
  Object.defineProperty(stub, 'name', { value: procedure.name });
  return { ...sample, procedure: Object.assign(stub, procedure) };
}

test('the installed @trpc/server passes the self-test', async () => {
  expect(await selfTest(createSample())).toBeUndefined();
});

test.each<[behaviour: string, difference: RegExp, sample: SampleProcedure]>([
  [
    'has no inputs in _def',
    /^inputs are not in _def$/,
    withDefinition((definition) => (definition.inputs = [])),
  ],
  [
    'has no output in _def',
    /^the output is not in _def$/,
    withDefinition((definition) => delete definition.output),
  ],
  [
    'has another resolver in _def',
    /^the resolver is not in _def$/,
    withDefinition((definition) => (definition.resolver = () => 1)),
  ],
  [
    'runs its middlewares in another order',
    /^the middlewares of a procedure are "output,,input,input,"$/,
    withDefinition(({ middlewares }) =>
      middlewares.unshift(...middlewares.splice(2, 1), ...middlewares.splice(1, 1)),
    ),
  ],
  [
    'does not mark its parsers',
    /^the middlewares of a procedure are/,
    withDefinition(({ middlewares }) => middlewares.forEach((each) => Reflect.deleteProperty(each, '_type'))),
  ],
  [
    'has no middlewares',
    /^the test of a procedure failed: TypeError/,
    withDefinition((definition) => Reflect.deleteProperty(definition, 'middlewares')),
  ],
  [
    'adds a middleware',
    /^the middlewares of a procedure are/,
    withDefinition(({ middlewares }) =>
      middlewares.unshift((options) => (options as { next: () => unknown }).next()),
    ),
  ],
  ['does not read the options of a call at once', /^a procedure is not recognised$/, withCall(() => 1)],
  [
    'runs other steps',
    /^a compiled call behaves differently/,
    withCall((_sample, options) => {
      // `countFrames` requires that the options are read.
      Object.keys(options);
      return undefined;
    }),
  ],
])('the self-test rejects a @trpc/server that %s', async (_behaviour, difference, sample) => {
  expect(await selfTest(sample)).toMatch(difference);
});

test('a failed self-test makes readProcedures execute all procedures through tRPC, and logs one line with the reason', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const procedures = await readProcedures(
    router,
    withDefinition((definition) => (definition.inputs = [])),
  );
  expect(procedures.map(({ execution }) => execution)).toEqual(['trpc', 'trpc']);
  expect(log.mock.calls).toEqual([
    [
      '@petstore/gateway: all procedures are called through tRPC, which is slower, because inputs are not in _def. Use @trpc/server ^11.25.2.',
    ],
  ]);
  log.mockClear();
});
