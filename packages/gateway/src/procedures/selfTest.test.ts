import { initTRPC } from '@trpc/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readProcedures } from './procedure.ts';
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
  const stub = async (options: { ctx: object }) => call(sample, options);
  return { ...sample, procedure: Object.assign(stub, sample.procedure) };
}

test('the installed @trpc/server passes the self-test, also outside a request on Cloudflare Workers, where no AbortController and no timer can be created', async () => {
  const forbidden = function () {
    throw new Error('Disallowed operation called within global scope.');
  };
  for (const name of ['AbortController', 'setTimeout', 'setInterval']) vi.stubGlobal(name, forbidden);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(await selfTest(createSample())).toBeUndefined();
});

test.each<[behaviour: string, sample: SampleProcedure]>([
  ['has no inputs in _def', withDefinition((definition) => (definition.inputs = []))],
  ['has no output in _def', withDefinition((definition) => delete definition.output)],
  [
    'runs its middlewares in another order',
    withDefinition(({ middlewares }) =>
      middlewares.unshift(...middlewares.splice(2, 1), ...middlewares.splice(1, 1)),
    ),
  ],
  [
    'does not mark its parsers',
    withDefinition(({ middlewares }) => middlewares.forEach((each) => Reflect.deleteProperty(each, '_type'))),
  ],
])(
  'the self-test accepts a @trpc/server that %s: its middlewares run as they are',
  async (_behaviour, sample) => {
    expect(await selfTest(sample)).toBeUndefined();
  },
);

const differs = /^a compiled call behaves differently/;
const fails = /^the test of a procedure failed: TypeError/;
const one = () => 1;
test.each<[behaviour: string, difference: RegExp, sample: SampleProcedure]>([
  ['has another resolver in _def', differs, withDefinition((definition) => (definition.resolver = one))],
  ['has another parser in _def', differs, withDefinition((definition) => (definition.output = one))],
  ['has no middlewares', fails, withDefinition((each) => Reflect.deleteProperty(each, 'middlewares'))],
  ['runs other steps', differs, withCall(() => undefined)],
])('the self-test rejects a @trpc/server that %s', async (_behaviour, difference, sample) => {
  expect(await selfTest(sample)).toMatch(difference);
});

test('a failed self-test makes readProcedures execute all procedures through tRPC, and logs one line with the reason', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { procedures } = await readProcedures(
    router,
    {},
    withDefinition((definition) => (definition.resolver = () => 1)),
  );
  expect(procedures.map(({ execution }) => execution)).toEqual(['trpc', 'trpc']);
  expect(log.mock.calls).toEqual([
    [
      'trpc-gateway: all procedures are called through tRPC, which is slower, because a compiled call behaves differently from a call by tRPC. Use @trpc/server ^11.0.0; with that version, report this line as a defect of trpc-gateway.',
    ],
  ]);
  log.mockClear();
});
