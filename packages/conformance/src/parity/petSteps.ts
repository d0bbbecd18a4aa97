import {
  type Ask,
  type Face,
  finiteNumber,
  inputs,
  type Outcome,
  restOutcome,
  rpcOutcome,
  text,
} from '@petstore/gateway-test';
import * as fc from 'fast-check';
import { petCall, type Procedure } from './petCalls.ts';

/** One call, and the face that it is made on in each of two worlds. */
export interface Step {
  readonly procedure: Procedure;
  readonly input: unknown;
  readonly faces: readonly [Face, Face];
}

const status = fc.constantFrom('available', 'pending', 'sold');
const categoryId = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.maxSafeInteger());
const anId = fc.integer({ min: 1, max: 6 });

/** About as long as a name may be, in characters of one UTF-16 unit and of two. */
const longName = fc
  .tuple(fc.integer({ min: 998, max: 1002 }), fc.constantFrom('a', '🐶'))
  .map(([length, character]) => character.repeat(length));

const inputsOf: Readonly<Record<Procedure, fc.Arbitrary<unknown>>> = {
  createPet: inputs({
    name: fc.oneof({ weight: 4, arbitrary: text }, longName),
    categoryId: fc.oneof({ weight: 4, arbitrary: categoryId }, finiteNumber),
    status,
  }),
  listPets: inputs({
    limit: fc.integer({ min: 1, max: 100 }),
    status,
    cursor: fc.oneof(anId, finiteNumber),
  }),
  getPet: inputs({ petId: fc.oneof({ weight: 4, arbitrary: anId }, finiteNumber) }),
};

const faces = fc.constantFrom<Step['faces'][]>(
  ['rest', 'rpc'],
  ['rpc', 'rest'],
  ['rest', 'batch'],
  ['batch', 'rest'],
  ['rpc', 'batch'],
);

const step = fc
  .constantFrom<Procedure[]>('createPet', 'listPets', 'getPet')
  .chain((procedure) => fc.record({ procedure: fc.constant(procedure), input: inputsOf[procedure], faces }));

const goodCreate: fc.Arbitrary<Step> = fc.record({
  procedure: fc.constant('createPet'),
  input: fc.record({ name: fc.string(), categoryId, status }, { requiredKeys: ['name', 'categoryId'] }),
  faces,
});

/** Calls in a row. The first put animals there, so that the others find some. */
export const sequences: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(goodCreate, { minLength: 1, maxLength: 5, size: 'max' }),
    fc.array(step, { minLength: 3, maxLength: 14, size: 'max' }),
  )
  .map(([first, others]) => first.concat(others));

/** Makes a call on a face; over tRPC alone where the input has no REST request. */
export async function outcomeOf(
  ask: Ask,
  procedure: Procedure,
  input: unknown,
  face: Face,
): Promise<Outcome> {
  const call = petCall(procedure, input, face);
  if (call === undefined) return outcomeOf(ask, procedure, input, 'rpc');
  const answer = await ask(call);
  if (face !== 'rest') return rpcOutcome(answer, face === 'batch');
  const success = procedure === 'createPet' ? 201 : 200;
  if (answer.status < 300 && answer.status !== success) {
    throw new Error(`REST answered ${answer.status} to ${procedure}.`);
  }
  return restOutcome(answer);
}
