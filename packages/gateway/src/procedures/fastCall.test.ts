import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failed } from './failed.ts';
import { ownCall, procedureCall, type CallWay, type ProcedureCall } from './procedureCall.ts';
import { buildChain, chainPlan, type Chain, type ChainPlan } from './testing/randomChain.ts';

/** Calls twice: a parser may learn from the first call that it has to wait. */
async function transcript(call: ProcedureCall, plan: ChainPlan, { log, described }: Chain): Promise<unknown> {
  const outcomes: unknown[] = [];
  for (let time = 0; time < 2; time += 1) {
    const { signal } = new AbortController();
    const getRawInput = () => {
      log.push('raw input asked for');
      if (plan.rawInputThrows) throw new Error('unreadable');
      return plan.rawInput;
    };
    try {
      const data = await call(plan.ctx, getRawInput, plan.hasSignal ? signal : undefined, plan.batchIndex);
      if (data instanceof Failed) throw data.error;
      outcomes.push({ data });
    } catch (error) {
      outcomes.push({ error: described(error) });
    }
  }
  return structuredClone({ outcomes, log: log.splice(0) });
}

const runs = 3000;

test(`of ${runs} chains made at random, every one gives, throws, does and shows its middlewares what it does by tRPC's own call`, async () => {
  const ways: Record<CallWay | 'not built', number> = { direct: 0, chain: 0, trpc: 0, 'not built': 0 };
  await fc.assert(
    fc.asyncProperty(chainPlan, async (plan) => {
      // One each: a parser, or an error that was formatted, remembers.
      const [own, fast, lean] = [buildChain(plan), buildChain(plan), buildChain(plan)];
      if (own === undefined || fast === undefined || lean === undefined) {
        ways['not built'] += 1;
        return;
      }
      const { way, call } = procedureCall('some.path', fast.procedure);
      ways[way] += 1;
      const expected = await transcript(ownCall('some.path', own.procedure).call, plan, own);
      expect(await transcript(call, plan, fast)).toEqual(expected);
      const { callInTurns: inTurns } = procedureCall('some.path', lean.procedure);
      const turnwise: ProcedureCall = (ctx, getRawInput, signal, batchIndex = 0) =>
        inTurns(ctx, async () => getRawInput(), signal, batchIndex);
      expect(await transcript(turnwise, plan, lean)).toEqual(expected);
    }),
    { numRuns: runs },
  );
  process.stdout.write(
    `Chains: ${ways.direct} direct, ${ways.chain} with middlewares, ${ways.trpc} by tRPC's own call (${ways['not built']} that tRPC does not build).\n`,
  );
  const built = runs - ways['not built'];
  expect(ways.direct).toBeGreaterThan(0.3 * built);
  expect(ways.direct + ways.chain).toBeGreaterThan(0.9 * built);
}, 60_000);
