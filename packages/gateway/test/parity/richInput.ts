import * as fc from 'fast-check';
import type { RichProcedure } from './richRouter.ts';

// Generators of values as `JSON.parse` returns them: with missing, additional and mistyped members, and with the numbers and
// strings that JSON parsers read differently.

const boundaries = [
  [0, -0, 1, -1, 5, 20, 99, 100, 101, 0.5, 5.5, -5.5, 1e-7, 5e-324, 1e15, 1e21, -1e21, 1.5e300],
  [2 ** 53 - 2, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, 2 ** 63 - 1024, 2 ** 63, 2 ** 64],
  [1 - 2 ** 53, -(2 ** 53), -(2 ** 53) - 2, -(2 ** 63), -(2 ** 63) - 2048, 2 ** 31, 2 ** 32],
].flat();

/** Any number that JSON can represent. REST rejects others, while over tRPC `JSON.parse` reads `1e400` as `Infinity`. */
const finiteNumber = fc.oneof(
  fc.constantFrom(...boundaries),
  fc.integer({ min: -3, max: 130 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Any string, including lone surrogates. fast-check chooses names such as `__proto__` itself. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 3 }),
  fc.constantFrom('', '5', '-1', 'true', 'null', '\0', '\ud800', '\u2028'),
);

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Any JSON value. */
const anyValue = fc.oneof(finiteNumber, anyText, fc.jsonValue({ maxDepth: 2 }));

/** Names that no schema has. */
const otherName = fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'toJSON', 'Name', 'id', '0'));

/**
 * Objects with these members, mostly valid: a member may be missing or have a wrong value, others may come before and after, and
 * one input in about 20 is not an object or is `undefined`.
 */
function mostlyValid(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> {
  // The more members, the rarer an error in each: about every second input is valid.
  const weight = Math.max(14, 6 * Object.keys(members).length);
  const own = Object.entries(members).map(([name, valid]) =>
    fc.oneof(
      { weight, arbitrary: valid.map((value) => [[name, value] as const]) },
      { weight: 1, arbitrary: anyValue.map((value) => [[name, value] as const]) },
      // A value that only a coercing parser accepts.
      { weight: 1, arbitrary: valid.map((value) => [[name, asText(value)] as const]) },
      { weight: 2, arbitrary: fc.constant([]) },
    ),
  );
  const others = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    fc.array(fc.tuple(otherName, anyValue), { maxLength: 2 }),
  );
  const object = fc
    .tuple(others, fc.tuple(...own), others)
    // As `JSON.parse` does: `__proto__` is an own member.
    .map(([before, entries, after]): unknown => Object.fromEntries([...before, ...entries.flat(), ...after]));
  return fc.oneof({ weight: 20, arbitrary: object }, anyValue, fc.constant(undefined));
}

const digit = fc.integer({ min: 0, max: 9 });
const word = fc.stringMatching(/^[a-z5 ]{1,4}$/);
const id = fc.oneof({ weight: 3, arbitrary: digit }, finiteNumber);
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

/** Generates the input of a procedure. */
export const richInput: Readonly<Record<RichProcedure, fc.Arbitrary<unknown>>> = {
  create: mostlyValid({ ...bodyFields, anything: anyValue }),
  replace: mostlyValid({ id, ...bodyFields, anything: anyValue }),
  update: mostlyValid({ id, ...bodyFields }),
  search: mostlyValid(fields),
  remove: mostlyValid({ id, on: fc.boolean() }),
};
