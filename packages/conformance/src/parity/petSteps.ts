import {
  type Send,
  type ProtocolVariant,
  finiteNumber,
  mostlyValidInput,
  type Outcome,
  restOutcome,
  rpcOutcome,
  anyText,
} from 'trpc-gateway-test';
import * as fc from 'fast-check';
import { petCall, type Procedure } from './petCalls.ts';

/** One call, and the protocol to make it over in each of the two pet stores. */
export interface Step {
  readonly procedure: Procedure;
  readonly input: unknown;
  readonly protocols: readonly [ProtocolVariant, ProtocolVariant];
}

const status = fc.constantFrom('available', 'pending', 'sold');
const categoryId = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.maxSafeInteger());
const assignedId = fc.integer({ min: 1, max: 6 });

/** Names of about the maximum length, in characters of one and of two UTF-16 code units. */
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
    cursor: fc.oneof(assignedId, finiteNumber),
  }),
  getPet: mostlyValidInput({ petId: fc.oneof({ weight: 4, arbitrary: assignedId }, finiteNumber) }),
};

const protocols = fc.constantFrom<Step['protocols'][]>(
  ['rest', 'trpc'],
  ['trpc', 'rest'],
  ['rest', 'batch'],
  ['batch', 'rest'],
  ['trpc', 'batch'],
);

const step = fc
  .constantFrom<Procedure[]>('createPet', 'listPets', 'getPet')
  .chain((procedure) =>
    fc.record({ procedure: fc.constant(procedure), input: inputsOf[procedure], protocols }),
  );

const validCreate: fc.Arbitrary<Step> = fc.record({
  procedure: fc.constant('createPet'),
  input: fc.record({ name: fc.string(), categoryId, status }, { requiredKeys: ['name', 'categoryId'] }),
  protocols,
});

/** Sequences of calls. The first ones create animals for the others. */
export const sequences: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(validCreate, { minLength: 1, maxLength: 5, size: 'max' }),
    fc.array(step, { minLength: 3, maxLength: 14, size: 'max' }),
  )
  .map(([first, others]) => first.concat(others));

/** Makes a call over a protocol and returns its outcome; an input without a REST request is sent over tRPC. */
export async function outcomeOf(
  send: Send,
  procedure: Procedure,
  input: unknown,
  protocol: ProtocolVariant,
): Promise<Outcome> {
  const call = petCall(procedure, input, protocol);
  if (call === undefined) return outcomeOf(send, procedure, input, 'trpc');
  const response = await send(call);
  if (protocol !== 'rest') return rpcOutcome(response, protocol === 'batch');
  const success = procedure === 'createPet' ? 201 : 200;
  if (response.status < 300 && response.status !== success) {
    throw new Error(`REST answered ${response.status} to ${procedure}.`);
  }
  return restOutcome(response);
}
