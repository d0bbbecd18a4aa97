import * as fc from 'fast-check';
import { jsonText } from './jsonText.ts';

// Generators of values as `JSON.parse` returns them: with missing, additional and mistyped members, and with the numbers and
// strings that JSON parsers read differently.

const boundaries = [
  [0, -0, 1, -1, 5, 20, 99, 100, 101, 0.5, 5.5, -5.5, 1e-7, 5e-324, 1e15, 1e21, -1e21, 1.5e300],
  [2 ** 53 - 2, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, 2 ** 63 - 1024, 2 ** 63, 2 ** 64],
  [1 - 2 ** 53, -(2 ** 53), -(2 ** 53) - 2, -(2 ** 63), -(2 ** 63) - 2048, 2 ** 31, 2 ** 32],
].flat();

/**
 * Any number that JSON can represent. REST rejects others, while over tRPC `JSON.parse` reads `1e400` as `Infinity`.
 */
export const finiteNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(...boundaries),
  fc.integer({ min: -3, max: 130 }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Any string, including lone surrogates. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({
    unit: fc.integer({ max: 0xffff, min: 0 }).map((unit) => String.fromCharCode(unit)),
    maxLength: 3,
  }),
  fc.constantFrom(
    '',
    '5',
    '-1',
    '0',
    'true',
    'null',
    '\0',
    '\ud800',
    'a\udc00',
    '\u2028',
    '🐶',
    'é',
    '__proto__',
  ),
);

/** Any JSON value. */
export const anyJsonValue = (): fc.Arbitrary<unknown> => {
  const scalar = fc.oneof(finiteNumber, anyText, fc.boolean(), fc.constant(null));
  const name = fc.oneof(anyText, memberNames);
  const { nested } = fc.letrec<{ nested: unknown }>((tie) => ({
    nested: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.array(tie('nested'), { maxLength: 3 }),
      fc.array(fc.tuple(name, tie('nested')), { maxLength: 3 }).map(fromEntries),
    ),
  }));
  return fc.oneof({ weight: 2, arbitrary: scalar }, nested);
};

/** Names of inherited members of JavaScript objects, and names that no schema has. */
const memberNames = fc.constantFrom(
  ...'__proto__ constructor prototype toString hasOwnProperty valueOf then toJSON'.split(' '),
  ...'id extra Name NAME category_id 0 length batch input'.split(' '),
  '',
  ' ',
);

/** Builds an object as `JSON.parse` does: `__proto__` is an own member. */
const fromEntries = (entries: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries(entries);

const asText = (value: unknown) => (typeof value === 'string' ? value : jsonText(value));

/**
 * Objects with these members, mostly valid: a member may be missing or have a wrong value, other members may come before and
 * after, and one input in about 20 is not an object or is `undefined`.
 */
export function mostlyValidInput(
  members: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<unknown> {
  const wrongValue = anyJsonValue();
  // The more members, the rarer an error in each: about every second input is valid.
  const weight = Math.max(14, 6 * Object.keys(members).length);
  const memberEntries = Object.entries(members).map(([name, valid]) =>
    fc.oneof(
      { weight, arbitrary: valid.map((value) => [[name, value] as const]) },
      { weight: 1, arbitrary: wrongValue.map((value) => [[name, value] as const]) },
      // A value that only a coercing parser accepts.
      { weight: 1, arbitrary: valid.map((value) => [[name, asText(value)] as const]) },
      { weight: 2, arbitrary: fc.constant([]) },
    ),
  );
  const others = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    fc.array(fc.tuple(fc.oneof(memberNames, anyText), wrongValue), { maxLength: 2 }),
  );
  const object = fc
    .tuple(others, fc.tuple(...memberEntries), others)
    .map(([before, entries, after]) => fromEntries([...before, ...entries.flat(), ...after]));
  return fc.oneof({ weight: 20, arbitrary: object }, wrongValue, fc.constant(undefined));
}
