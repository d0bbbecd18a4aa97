import { inspect } from 'node:util';
import { getTRPCErrorFromUnknown } from '@trpc/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAsyncIterable } from '../http/isAsyncIterable.ts';
import { compile } from './compile.ts';
import { execute, Failure } from './execute.ts';
import { createSample } from './selfTest.ts';
import { buildChain, chainPlan, type Chain, type ChainPlan } from './testing/randomChain.ts';
import { TrpcForm } from './trpcForm.ts';

const form = new TrpcForm(createSample().procedure);

type Call = (read: () => unknown, signal: AbortSignal) => unknown;

/** Every outcome of a chain and every step that led to it. It is called twice: parsers may remember. */
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
  // Two `next()` that run at once are two chains: their steps come in any order.
  const steps = plan.isConcurrent ? log.map((step) => JSON.stringify(step)).toSorted() : log;
  const text = inspect({ outcomes, steps }, { depth: Infinity, sorted: true });
  log.length = 0;
  return text;
}

/** The data of an outcome; of a stream, what it yields. */
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

const runs = Number(process.env['CHAINS'] ?? 3000);

test(`${runs} random chains have the result and the steps of tRPC's own call`, async () => {
  const counts = { compiled: 0, trpc: 0, unbuilt: 0, withMiddlewares: 0, waiting: 0, failed: 0 };
  const { seed = Date.now() } = fc.readConfigureGlobal();
  const begun = performance.now();
  await fc.assert(
    fc.asyncProperty(chainPlan, async (plan) => {
      // One each: parsers and formatted errors have a state.
      const [own, compiled] = [buildChain(plan), buildChain(plan)];
      if (own === undefined || compiled === undefined) {
        counts.unbuilt += 1;
        return;
      }
      const { ctx, batchIndex, type } = plan;
      const trpcCall: Call = async (read, signal) => {
        const getRawInput = async () => read();
        try {
          return await own.procedure({ ctx, getRawInput, path: 'a.path', type, signal, batchIndex });
        } catch (cause) {
          return new Failure(getTRPCErrorFromUnknown(cause));
        }
      };
      const expected = await transcript(trpcCall, plan, own);
      const stages = compile(compiled.procedure, form);
      const procedure = {
        path: 'a.path',
        type,
        meta: compiled.procedure._def.meta,
        procedure: compiled.procedure,
        stages,
      };
      const ourCall: Call = (read, signal) => {
        const outcome = execute(procedure, ctx, { read }, batchIndex, { signal });
        if (outcome instanceof Promise) counts.waiting += 0.5;
        return outcome;
      };
      const actual = await transcript(ourCall, plan, compiled);
      expect(actual).toBe(expected);
      counts[stages ? 'compiled' : 'trpc'] += 1;
      if (stages && stages.length > 1) counts.withMiddlewares += 1;
      if (actual.includes('error: {')) counts.failed += 1;
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
