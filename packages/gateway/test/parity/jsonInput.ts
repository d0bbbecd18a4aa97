import * as fc from 'fast-check';
import { jsonText } from './jsonText.ts';

// Values as `JSON.parse` gives them: members that are missing, too many or of the wrong type, and the numbers and texts
// at which readers of JSON part ways.

const boundaries = [
  [0, -0, 1, -1, 5, 20, 99, 100, 101, 0.5, 5.5, -5.5, 1e-7, 5e-324, 1e15, 1e21, -1e21, 1.5e300],
  [2 ** 53 - 2, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, 2 ** 63 - 1024, 2 ** 63, 2 ** 64],
  [1 - 2 ** 53, -(2 ** 53), -(2 ** 53) - 2, -(2 ** 63), -(2 ** 63) - 2048, 2 ** 31, 2 ** 32],
].flat();

/** Any number that JSON can carry. */
export const finiteNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(...boundaries),
  fc.integer({ min: -3, max: 130 }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** `JSON.parse` gives an infinity for `1e400`. */
const anyNumber = fc.oneof({ weight: 9, arbitrary: finiteNumber }, fc.constantFrom(Infinity, -Infinity));

/** Any text, lone surrogates included. */
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

/** A value that was meant for something else. */
export const anyJsonValue = (someNumber: fc.Arbitrary<number> = anyNumber): fc.Arbitrary<unknown> => {
  const scalar = fc.oneof(someNumber, anyText, fc.boolean(), fc.constant(null));
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

/** Names that mean something to JavaScript's objects, or to nobody. */
const memberNames = fc.constantFrom(
  ...'__proto__ constructor prototype toString hasOwnProperty valueOf then toJSON'.split(' '),
  ...'id extra Name NAME category_id 0 length batch input'.split(' '),
  '',
  ' ',
);

/** As `JSON.parse` makes them: `__proto__` is a member like any other. */
const fromEntries = (entries: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries(entries);

const asText = (value: unknown) => (typeof value === 'string' ? value : jsonText(value));

/**
 * Objects of these members, mostly good ones: each may be missing or hold junk, others may come before and after, and
 * once in a while the input is no object at all.
 */
export function mostlyValidInput(
  members: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  someNumber: fc.Arbitrary<number> = anyNumber,
): fc.Arbitrary<unknown> {
  const spoilt = anyJsonValue(someNumber);
  // The more members, the rarer a fault in each: about every second input is good.
  const weight = Math.max(14, 6 * Object.keys(members).length);
  const own = Object.entries(members).map(([name, good]) =>
    fc.oneof(
      { weight, arbitrary: good.map((value) => [[name, value] as const]) },
      { weight: 1, arbitrary: spoilt.map((value) => [[name, value] as const]) },
      // What a reader that coerces would take.
      { weight: 1, arbitrary: good.map((value) => [[name, asText(value)] as const]) },
      { weight: 2, arbitrary: fc.constant([]) },
    ),
  );
  const others = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    fc.array(fc.tuple(fc.oneof(memberNames, anyText), spoilt), { maxLength: 2 }),
  );
  const object = fc
    .tuple(others, fc.tuple(...own), others)
    .map(([before, found, behind]) => fromEntries([...before, ...found.flat(), ...behind]));
  return fc.oneof({ weight: 20, arbitrary: object }, spoilt, fc.constant(undefined));
}
