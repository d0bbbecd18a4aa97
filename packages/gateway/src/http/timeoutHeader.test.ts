import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseTimeout, formatTimeout } from './timeoutHeader.ts';

it.each([
  ['2H', 7_200_000],
  ['15S', 15_000],
  ['1500m', 1500],
  ['250u', 0.25],
  ['99999999n', 99.999999],
])('parseTimeout(%s) returns %d ms', (value, ms) => {
  expect(parseTimeout(value)).toBeCloseTo(ms, 9);
});

it.each(['', '0m', '00S', '5', 'm', '5s', '5 m', '-5m', '1.5S', '123456789m', '5m, 6m', '１m'])(
  'parseTimeout(%j) returns undefined',
  (value) => {
    expect(parseTimeout(value)).toBeUndefined();
  },
);

it('parseTimeout reverses formatTimeout, rounded down to 1 ms, or to 1 s from 28 hours on', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 99_999_999_000, noNaN: true }), (ms) => {
      expect(parseTimeout(formatTimeout(ms))).toBe(ms < 1e8 ? Math.floor(ms) : Math.floor(ms / 1000) * 1000);
    }),
  );
  expect([0.2, 99_999_999, 1e8, 1e30].map(formatTimeout)).toEqual([
    '1m',
    '99999999m',
    '100000S',
    '99999999S',
  ]);
});
