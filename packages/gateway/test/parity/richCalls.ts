import * as fc from 'fast-check';
import { type Call, type ProtocolVariant, rpcCall } from './protocolClients.ts';
import { finiteNumber, mostlyValidInput, anyJsonValue, anyText } from './jsonInput.ts';
import { jsonText, numberText } from './jsonText.ts';
import { richMeta, type RichProcedure } from './richRouter.ts';

const small = fc.integer({ min: 0, max: 9 });
const word = fc.stringMatching(/^[a-z5 ]{1,4}$/);
const id = fc.oneof({ weight: 3, arbitrary: small }, finiteNumber);
const fields = {
  text: word,
  count: small,
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
  size: fc.tuple(small, small),
  place: fc.oneof(
    fc.record({ type: fc.constant('shelf'), row: small, more: small }),
    fc.record({ type: fc.constant('lent'), to: word }),
  ),
  scores: fc.dictionary(anyText, small, { maxKeys: 2, noNullPrototype: true }),
  either: fc.oneof(small, small.map(String), fc.constant(null)),
};

// Finite numbers alone: what an input holds is read over REST, where a number that JSON cannot carry is refused, while
// over tRPC `JSON.parse` has made an infinity of it already.
const good = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  mostlyValidInput(members, finiteNumber);

export const richInput: Readonly<Record<RichProcedure, fc.Arbitrary<unknown>>> = {
  create: good({ ...bodyFields, anything: anyJsonValue(finiteNumber) }),
  replace: good({ id, ...bodyFields, anything: anyJsonValue(finiteNumber) }),
  update: good({ id, ...bodyFields }),
  search: good(fields),
  remove: good({ id, on: fc.boolean() }),
};

/** How a query can carry a member: only in its schema's own type. */
const inQuery: Readonly<Record<string, (value: unknown) => readonly string[] | undefined>> = {
  text: (value) => asText(value),
  kind: (value) => asText(value),
  count: (value) => (typeof value === 'number' ? [numberText(value)] : undefined),
  ratio: (value) => (typeof value === 'number' ? [String(value)] : undefined),
  on: (value) => (typeof value === 'boolean' ? [String(value)] : undefined),
  // An empty array is no parameter at all, which is the default: the same.
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => asText(tag) !== undefined) ? (value as string[]) : undefined,
};
const isUnsafeInt64 = (value: number) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;

const asText = (value: unknown) => (typeof value === 'string' && value.isWellFormed() ? [value] : undefined);

/**
 * As `petCalls.ts` says: `undefined` where texts cannot say just this. An `id` is the number in the path; an int64 there
 * that a double may not hold names nothing over REST (404), whatever its schema, so that the protocols are not compared.
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
  const { id: named, ...others } = input as Readonly<Record<string, unknown>>;
  if (procedure !== 'search' && (typeof named !== 'number' || isUnsafeInt64(named))) return undefined;
  const target = `/v1${typeof named === 'number' ? path.replace('{id}', numberText(named)) : path}`;
  if (method === 'PUT' || method === 'PATCH') return { method, target, body: jsonText(others) };

  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(others)) {
    const isKnown = procedure === 'search' ? Object.hasOwn(inQuery, name) : name === 'on';
    const texts = isKnown ? inQuery[name]?.(value) : [];
    if (texts === undefined) return undefined;
    for (const one of texts) query.append(name, one);
  }
  return { method, target: query.size === 0 ? target : `${target}?${query.toString()}` };
}
