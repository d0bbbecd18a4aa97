import {
  type Send,
  type ProtocolVariant,
  finiteNumber,
  mostlyValidInput,
  type Outcome,
  restOutcome,
  rpcOutcome,
  anyText,
} from '@petstore/gateway-test';
import * as fc from 'fast-check';
import { petCall, type Procedure } from './petCalls.ts';

/** One call, and the protocol that it is made on in each of two worlds. */
export interface Step {
  readonly procedure: Procedure;
  readonly input: unknown;
  readonly protocols: readonly [ProtocolVariant, ProtocolVariant];
}

const status = fc.constantFrom('available', 'pending', 'sold');
const categoryId = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.maxSafeInteger());
const anId = fc.integer({ min: 1, max: 6 });

/** About as long as a name may be, in characters of one UTF-16 unit and of two. */
const longName = fc
  .tuple(fc.integer({ min: 998, max: 1002 }), fc.constantFrom('a', '🐶'))
  .map(([length, character]) => character.repeat(length));

const inputsOf: Readonly<Record<Procedure, fc.Arbitrary<unknown>>> = {
  createPet: mostlyValidInput({
    name: fc.oneof({ weight: 4, arbitrary: anyText }, longName),
    categoryId: fc.oneof({ weight: 4, arbitrary: categoryId }, finiteNumber),
    status,
  }),
  listPets: mostlyValidInput({
    limit: fc.integer({ min: 1, max: 100 }),
    status,
    cursor: fc.oneof(anId, finiteNumber),
  }),
  getPet: mostlyValidInput({ petId: fc.oneof({ weight: 4, arbitrary: anId }, finiteNumber) }),
};

const protocols = fc.constantFrom<Step['protocols'][]>(
  ['rest', 'rpc'],
  ['rpc', 'rest'],
  ['rest', 'batch'],
  ['batch', 'rest'],
  ['rpc', 'batch'],
);

const step = fc
  .constantFrom<Procedure[]>('createPet', 'listPets', 'getPet')
  .chain((procedure) =>
    fc.record({ procedure: fc.constant(procedure), input: inputsOf[procedure], protocols }),
  );

const goodCreate: fc.Arbitrary<Step> = fc.record({
  procedure: fc.constant('createPet'),
  input: fc.record({ name: fc.string(), categoryId, status }, { requiredKeys: ['name', 'categoryId'] }),
  protocols,
});

/** Calls in a row. The first put animals there, so that the others find some. */
export const sequences: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(goodCreate, { minLength: 1, maxLength: 5, size: 'max' }),
    fc.array(step, { minLength: 3, maxLength: 14, size: 'max' }),
  )
  .map(([first, others]) => first.concat(others));

/** Makes a call on a protocol; over tRPC alone where the input has no REST request. */
export async function outcomeOf(
  send: Send,
  procedure: Procedure,
  input: unknown,
  protocol: ProtocolVariant,
): Promise<Outcome> {
  const call = petCall(procedure, input, protocol);
  if (call === undefined) return outcomeOf(send, procedure, input, 'rpc');
  const response = await send(call);
  if (protocol !== 'rest') return rpcOutcome(response, protocol === 'batch');
  const success = procedure === 'createPet' ? 201 : 200;
  if (response.status < 300 && response.status !== success) {
    throw new Error(`REST answered ${response.status} to ${procedure}.`);
  }
  return restOutcome(response);
}
