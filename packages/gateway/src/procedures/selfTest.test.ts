import { initTRPC } from '@trpc/server';
import { expect, test, vi } from 'vitest';
import { readProcedures } from './procedures.ts';
import { createSample, selfTest, type SampleProcedure } from './selfTest.ts';
import type { ProcedureDefinition } from './trpcProcedure.ts';

const t = initTRPC.create();
const router = t.router({ first: t.procedure.query(() => 1), second: t.procedure.query(() => 2) });

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Mutable = Writable<ProcedureDefinition> & { middlewares: ProcedureDefinition['middlewares'][number][] };

/** A sample whose `_def` another version of tRPC would have made. */
function changed(change: (definition: Mutable, sample: SampleProcedure) => void): SampleProcedure {
  const sample = createSample();
  change(sample.procedure._def as unknown as Mutable, sample);
  return sample;
}

/** A sample that another version of tRPC would call in another way. */
function called(call: (sample: SampleProcedure, options: { ctx: object }) => unknown): SampleProcedure {
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

test.each<[what: string, difference: RegExp, sample: SampleProcedure]>([
  ['keeps inputs elsewhere', /^inputs are not in _def$/, changed((definition) => (definition.inputs = []))],
  [
    'keeps the output elsewhere',
    /^the output is not in _def$/,
    changed((definition) => delete definition.output),
  ],
  [
    'keeps another resolver',
    /^the resolver is not in _def$/,
    changed((definition) => (definition.resolver = () => 1)),
  ],
  [
    'runs its middlewares in another order',
    /^the middlewares of a procedure are "output,,input,input,"$/,
    changed(({ middlewares }) =>
      middlewares.unshift(...middlewares.splice(2, 1), ...middlewares.splice(1, 1)),
    ),
  ],
  [
    'names its parsers otherwise',
    /^the middlewares of a procedure are/,
    changed(({ middlewares }) => middlewares.forEach((each) => Reflect.deleteProperty(each, '_type'))),
  ],
  [
    'has no middlewares',
    /^the test of a procedure failed: TypeError/,
    changed((definition) => Reflect.deleteProperty(definition, 'middlewares')),
  ],
  [
    'adds a step',
    /^the middlewares of a procedure are/,
    changed(({ middlewares }) =>
      middlewares.unshift((options) => (options as { next: () => unknown }).next()),
    ),
  ],
  ['does not read its options at once', /^a procedure is not recognised$/, called(() => 1)],
  [
    'takes other steps',
    /^a compiled call does not do/,
    called((_sample, options) => {
      // As `framesOf` asks for it.
      Object.keys(options);
      return undefined;
    }),
  ],
])('a @trpc/server that %s fails the self-test', async (_what, difference, sample) => {
  expect(await selfTest(sample)).toMatch(difference);
});

test('where the self-test fails, all procedures are called as tRPC exposes them, and one line on stderr says why', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const procedures = await readProcedures(
    router,
    changed((definition) => (definition.inputs = [])),
  );
  expect(procedures.map(({ execution }) => execution)).toEqual(['trpc', 'trpc']);
  expect(log.mock.calls).toEqual([
    [
      '@petstore/gateway calls all procedures through tRPC, which is slower: inputs are not in _def. Use @trpc/server ^11.25.2.',
    ],
  ]);
  log.mockClear();
});
