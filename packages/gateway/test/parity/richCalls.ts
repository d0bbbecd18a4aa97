import * as fc from 'fast-check';
import { type Call, type ProtocolVariant, rpcCall } from './protocolCalls.ts';
import { finiteNumber, mostlyValidInput, anyJsonValue, anyText } from './jsonInput.ts';
import { jsonText, numberText } from './jsonText.ts';
import { richMeta, type RichProcedure } from './richRouter.ts';

const digit = fc.integer({ min: 0, max: 9 });
const word = fc.stringMatching(/^[a-z5 ]{1,4}$/);
const anyId = fc.oneof({ weight: 3, arbitrary: digit }, finiteNumber);
const fields = {
  text: word,
  count: digit,
  ratio: finiteNumber,
  on: fc.boolean(),
  kind: fc.constantFrom('novel', 'poem'),
  tags: fc.array(word, { maxLength: 3 }),
};
const bodyFields = {
  ...fields,
  shelf: fc.constantFrom(1, 2, 'annex', true),
  note: fc.option(word),
  at: fc.constantFrom('2026-11-20T12:00:00Z', '2026-11-20T12:00:00.5Z'),
  size: fc.tuple(digit, digit),
  place: fc.oneof(
    fc.record({ type: fc.constant('shelf'), row: digit, more: digit }),
    fc.record({ type: fc.constant('lent'), to: word }),
  ),
  scores: fc.dictionary(anyText, digit, { maxKeys: 2, noNullPrototype: true }),
  either: fc.oneof(digit, digit.map(String), fc.constant(null)),
};

export const richInput: Readonly<Record<RichProcedure, fc.Arbitrary<unknown>>> = {
  create: mostlyValidInput({ ...bodyFields, anything: anyJsonValue() }),
  replace: mostlyValidInput({ id: anyId, ...bodyFields, anything: anyJsonValue() }),
  update: mostlyValidInput({ id: anyId, ...bodyFields }),
  search: mostlyValidInput(fields),
  remove: mostlyValidInput({ id: anyId, on: fc.boolean() }),
};

/** The query parameters of a member, or `undefined` if a query cannot carry the value as its schema's type. */
const queryTexts: Readonly<Record<string, (value: unknown) => readonly string[] | undefined>> = {
  text: (value) => asText(value),
  kind: (value) => asText(value),
  count: (value) => (typeof value === 'number' ? [numberText(value)] : undefined),
  ratio: (value) => (typeof value === 'number' ? [String(value)] : undefined),
  on: (value) => (typeof value === 'boolean' ? [String(value)] : undefined),
  // An empty array has no parameters, and the default is an empty array.
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => asText(tag) !== undefined) ? (value as string[]) : undefined,
};
const isUnsafeInt64 = (value: number) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;

const asText = (value: unknown) => (typeof value === 'string' && value.isWellFormed() ? [value] : undefined);

/**
 * Returns the request of a call, or `undefined` if REST cannot express the input. An `id` is the number in
 * the path. An int64 there that a double cannot represent is a 404 over REST whatever the schema is, so it is not compared.
 */
export function richCall(
  procedure: RichProcedure,
  input: unknown,
  protocol: ProtocolVariant,
): Call | undefined {
  if (protocol === 'rest') return restCall(procedure, input);
  return rpcCall(procedure === 'search' ? 'query' : 'mutation', procedure, input, protocol === 'batch');
}

function restCall(procedure: RichProcedure, input: unknown): Call | undefined {
  const { method, path } = richMeta[procedure];
  if (procedure === 'create') {
    return { method, target: `/v1${path}`, body: input === undefined ? '' : jsonText(input) };
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const { id, ...others } = input as Readonly<Record<string, unknown>>;
  if (procedure !== 'search' && (typeof id !== 'number' || isUnsafeInt64(id))) return undefined;
  const target = `/v1${typeof id === 'number' ? path.replace('{id}', numberText(id)) : path}`;
  if (method === 'PUT' || method === 'PATCH') return { method, target, body: jsonText(others) };

  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(others)) {
    const isKnown = procedure === 'search' ? Object.hasOwn(queryTexts, name) : name === 'on';
    const texts = isKnown ? queryTexts[name]?.(value) : [];
    if (texts === undefined) return undefined;
    for (const each of texts) query.append(name, each);
  }
  return { method, target: query.size === 0 ? target : `${target}?${query.toString()}` };
}
