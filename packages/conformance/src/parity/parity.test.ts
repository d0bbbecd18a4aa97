import { anyJsonValue, Tally, testSeed } from '@petstore/gateway-test';
import { everyForm, inputs } from '@petstore/testing/forms';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decimal } from './decimal.ts';
import { petContract } from './petContract.ts';
import { outcomeOf, sequences, type Step } from './petSteps.ts';
import { type PetWorld, worldInProcess, worldOverPort } from './petWorld.ts';

/**
 * Makes the same calls in two worlds that begin alike, on other protocols. Each call must have the same outcome in both, ids
 * included, and it must be the one that the contract says.
 */
async function inBoth(worlds: readonly [PetWorld, PetWorld], steps: readonly Step[], tally: Tally) {
  const contract = petContract();
  const actual: unknown[] = [];
  const expected: unknown[] = [];
  for (const { procedure, input, protocols } of steps) {
    const outcome = contract.outcome(procedure, input);
    expected.push({ procedure, protocols, outcomes: [outcome, outcome] });
    const left = await outcomeOf(worlds[0].ask, procedure, input, protocols[0]);
    const right = await outcomeOf(worlds[1].ask, procedure, input, protocols[1]);
    actual.push({ procedure, protocols, outcomes: [left, right] });
    tally.add(procedure, 'data' in outcome);
  }
  return { actual, expected };
}

describe('REST and tRPC give the same result or the same refusal, whatever was called before', () => {
  const tally = new Tally();
  afterAll(() => tally.print('Parity of the pet store'));

  it(`in this process, in at least ${inputs(2000)} calls`, async () => {
    const property = fc.asyncProperty(sequences, async (steps) => {
      const { actual, expected } = await inBoth(
        [await worldInProcess(), await worldInProcess()],
        steps,
        tally,
      );
      expect(actual).toEqual(expected);
    });
    await fc.assert(property, { numRuns: inputs(250) });
    for (let more = 1; tally.total < inputs(2000); more += 1) {
      await fc.assert(property, { numRuns: 50, seed: testSeed + more });
    }
    // With fewer inputs they are spread less evenly.
    expect(tally.underrepresented(everyForm ? 200 : 20)).toEqual([]);
  }, 300_000);

  it('over a real port', async () => {
    const worlds = [await worldOverPort(), await worldOverPort()] as const;
    try {
      const property = fc.asyncProperty(sequences, async (steps) => {
        for (const world of worlds) world.clear();
        const { actual, expected } = await inBoth(worlds, steps, tally);
        expect(actual).toEqual(expected);
      });
      await fc.assert(property, { numRuns: inputs(40) });
    } finally {
      for (const world of worlds) await world.close();
    }
  });
});

describe('nothing is coerced, and nothing is rounded', () => {
  let world: PetWorld;
  beforeAll(async () => {
    world = await worldInProcess();
  });

  /** What a generous reader takes for a number. */
  const almostNumber = fc.oneof(
    fc.constantFrom<unknown[]>('5', '0', '', ' 5', '5.0', '0x5', '1e1', 'no', true, false, null, [], [5], {}),
    fc.integer({ min: 1, max: 100 }).map(String),
    anyJsonValue().filter((value) => typeof value !== 'number'),
  );

  const refusals = async (value: unknown) => [
    await outcomeOf(world.ask, 'createPet', { name: 'Ada', categoryId: value }, 'rest'),
    await outcomeOf(world.ask, 'createPet', { name: 'Ada', categoryId: value }, 'rpc'),
    await outcomeOf(world.ask, 'listPets', { limit: value }, 'rpc'),
    await outcomeOf(world.ask, 'listPets', { cursor: value }, 'batch'),
    await outcomeOf(world.ask, 'getPet', { petId: value }, 'rpc'),
  ];
  const allRefused = Array.from({ length: 5 }, () => ({ code: 'BAD_REQUEST', status: 400 }));

  it('refuses what is no number where a number is due, before and after any calls over REST', async () => {
    const property = fc.asyncProperty(almostNumber, sequences, async (value, steps) => {
      const before = await refusals(value);
      // Where a text can be a number, in a path or a query, it is made one: nothing of that may stay behind.
      for (const { procedure, input } of steps) await outcomeOf(world.ask, procedure, input, 'rest');
      await world.ask({ method: 'GET', target: '/openapi.json' });
      expect({ before, after: await refusals(value) }).toEqual({ before: allRefused, after: allRefused });
    });
    await fc.assert(property, { numRuns: 60 });
  });

  const decimals = fc.oneof(
    fc
      .tuple(
        fc.boolean(),
        fc.bigInt({ min: 0n, max: 2n ** 65n }),
        fc.constantFrom('', '0', '000', '5', '4'),
        fc.nat(3),
      )
      .map(([isNegative, whole, fraction, exponent]) => decimal(isNegative, whole, fraction, exponent)),
    fc
      .tuple(
        fc.boolean(),
        fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
        fc.stringMatching(/^0{0,20}[1-9]?$/),
      )
      .map(([isNegative, whole, fraction]) => decimal(isNegative, whole, fraction)),
    fc
      .tuple(
        fc.boolean(),
        fc.bigInt({ min: 0n, max: 9999n }),
        fc.stringMatching(/^\d{0,18}$/),
        fc.integer({ min: -4, max: 18 }),
      )
      .map(([isNegative, whole, fraction, exponent]) => decimal(isNegative, whole, fraction, exponent)),
  );
  const safe = BigInt(Number.MAX_SAFE_INTEGER);

  // This is the one place where the protocols part: on the tRPC protocol JSON is what tRPC's adapter reads, so that digits which
  // a double cannot hold are gone before anything of ours sees them.
  it('takes a number in a REST body exactly where JSON carries it exactly, whatever its digits', async () => {
    const tally = new Tally();
    const property = fc.asyncProperty(decimals, async ({ literal, integer }) => {
      const body = `{"name":"Ada","categoryId":${literal}}`;
      const { status, text } = await world.ask({ method: 'POST', target: '/v1/pets', body });
      const isGood = integer !== undefined && integer >= -safe && integer <= safe;
      tally.add('categoryId', isGood);
      const stored = /"categoryId":(-?\d+)\}/.exec(text)?.[1];
      expect({ literal, status, stored }).toEqual({
        literal,
        status: isGood ? 201 : 400,
        stored: isGood ? String(integer) : undefined,
      });
    });
    await fc.assert(property, { numRuns: 600 });
    expect(tally.underrepresented(60)).toEqual([]);
  });
});
