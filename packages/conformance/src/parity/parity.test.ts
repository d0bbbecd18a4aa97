import { anyJsonValue, Tally, testSeed } from 'trpc-gateway-test';
import { inputs, longForm } from '@petstore/testing/forms';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decimal } from './decimal.ts';
import { petContract } from './petContract.ts';
import { outcomeOf, sequences, type Step } from './petSteps.ts';
import { type PetWorld, worldInProcess, worldOverPort } from './petWorld.ts';

/**
 * Makes the same calls over different protocols against two pet stores that start empty, and returns the outcomes and those
 * of the contract. Each call must have the outcome of the contract, ids included, in both.
 */
async function callBoth(worlds: readonly [PetWorld, PetWorld], steps: readonly Step[], tally: Tally) {
  const contract = petContract();
  const actual: unknown[] = [];
  const expected: unknown[] = [];
  for (const { procedure, input, protocols } of steps) {
    const outcome = contract.outcome(procedure, input);
    expected.push({ procedure, protocols, outcomes: [outcome, outcome] });
    const left = await outcomeOf(worlds[0].send, procedure, input, protocols[0]);
    const right = await outcomeOf(worlds[1].send, procedure, input, protocols[1]);
    actual.push({ procedure, protocols, outcomes: [left, right] });
    tally.add(procedure, 'data' in outcome);
  }
  return { actual, expected };
}

describe('REST and tRPC parity', () => {
  const tally = new Tally();
  afterAll(() => tally.print('Parity of the pet store'));

  it(`REST and tRPC return the same result or error in process, in at least ${inputs(2000)} calls`, async () => {
    const property = fc.asyncProperty(sequences, async (steps) => {
      const { actual, expected } = await callBoth(
        [await worldInProcess(), await worldInProcess()],
        steps,
        tally,
      );
      expect(actual).toEqual(expected);
    });
    await fc.assert(property, { numRuns: inputs(250) });
    for (let seedOffset = 1; tally.total < inputs(2000); seedOffset += 1) {
      await fc.assert(property, { numRuns: 50, seed: testSeed + seedOffset });
    }
    // With fewer inputs the distribution is less even.
    expect(tally.underrepresented(longForm ? 200 : 20)).toEqual([]);
  }, 300_000);

  it('REST and tRPC return the same result or error over a real port', async () => {
    const worlds = [await worldOverPort(), await worldOverPort()] as const;
    try {
      const property = fc.asyncProperty(sequences, async (steps) => {
        for (const world of worlds) world.clear();
        const { actual, expected } = await callBoth(worlds, steps, tally);
        expect(actual).toEqual(expected);
      });
      await fc.assert(property, { numRuns: inputs(40) });
    } finally {
      for (const world of worlds) await world.close();
    }
  });
});

describe('numbers in inputs', () => {
  let world: PetWorld;
  beforeAll(async () => {
    world = await worldInProcess();
  });

  /** Values that a lenient parser would coerce to a number. */
  const coercibleValue = fc.oneof(
    fc.constantFrom<unknown[]>('5', '0', '', ' 5', '5.0', '0x5', '1e1', 'no', true, false, null, [], [5], {}),
    fc.integer({ min: 1, max: 100 }).map(String),
    anyJsonValue().filter((value) => typeof value !== 'number'),
  );

  const outcomesOf = async (value: unknown) => [
    await outcomeOf(world.send, 'createPet', { name: 'Ada', categoryId: value }, 'rest'),
    await outcomeOf(world.send, 'createPet', { name: 'Ada', categoryId: value }, 'trpc'),
    await outcomeOf(world.send, 'listPets', { limit: value }, 'trpc'),
    await outcomeOf(world.send, 'listPets', { cursor: value }, 'batch'),
    await outcomeOf(world.send, 'getPet', { petId: value }, 'trpc'),
  ];
  const allRejected = Array.from({ length: 5 }, () => ({ code: 'BAD_REQUEST', status: 400 }));

  it('tRPC rejects a non-number for a number with BAD_REQUEST, before and after any calls over REST', async () => {
    const property = fc.asyncProperty(coercibleValue, sequences, async (value, steps) => {
      const before = await outcomesOf(value);
      // REST converts strings in paths and queries to numbers; that must not affect later calls.
      for (const { procedure, input } of steps) await outcomeOf(world.send, procedure, input, 'rest');
      await world.send({ method: 'GET', target: '/openapi.json' });
      expect({ before, after: await outcomesOf(value) }).toEqual({ before: allRejected, after: allRejected });
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

  // The protocols differ only here: tRPC's own adapter parses the JSON of a tRPC call, so the gateway never sees digits that a
  // double cannot hold.
  it('POST /pets over REST accepts a categoryId exactly if its decimal value is a safe integer', async () => {
    const tally = new Tally();
    const property = fc.asyncProperty(decimals, async ({ literal, integer }) => {
      const body = `{"name":"Ada","categoryId":${literal}}`;
      const { status, text } = await world.send({ method: 'POST', target: '/v1/pets', body });
      const isSafe = integer !== undefined && integer >= -safe && integer <= safe;
      tally.add('categoryId', isSafe);
      const stored = /"categoryId":(-?\d+)\}/.exec(text)?.[1];
      expect({ literal, status, stored }).toEqual({
        literal,
        status: isSafe ? 201 : 400,
        stored: isSafe ? String(integer) : undefined,
      });
    });
    await fc.assert(property, { numRuns: 600 });
    expect(tally.underrepresented(60)).toEqual([]);
  });
});
