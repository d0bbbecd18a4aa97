import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isExactNumber } from './isExactNumber.ts';

it.each([
  '0',
  '-0',
  '0.0',
  '0e5',
  '000',
  '7',
  '-7',
  '007',
  '7.50',
  '1e3',
  '1E+3',
  '1000e-3',
  '0.001',
  '1.5e-7',
  '123456789012345680000',
  '1e21',
  '9007199254740991',
  '9007199254740992',
  '-120.0300',
])('isExactNumber(%s) is true for its parsed value', (literal) => {
  expect(isExactNumber(literal, Number(literal))).toBe(true);
});

it.each([
  '9007199254740993',
  '0.1000000000000000055511151231257827',
  '1e400',
  '-1e400',
  '1e-400',
  '7.00000000000000001',
])('isExactNumber(%s) is false for its parsed value', (literal) => {
  expect(isExactNumber(literal, Number(literal))).toBe(false);
});

it.each([
  ['7', -7],
  ['70', 7],
  ['7', 70],
  ['0.7', 7],
  ['1e2', 1000],
  ['1e2', 10],
  ['1.5', 15],
])('isExactNumber(%s, %d) is false', (literal, value) => {
  expect(isExactNumber(literal, value)).toBe(false);
});

it('isExactNumber is false for text that is not a decimal literal', () => {
  expect(isExactNumber('x', 7)).toBe(false);
  expect(isExactNumber('7x', 7)).toBe(false);
  expect(isExactNumber('x7', 7)).toBe(false);
  expect(isExactNumber('Infinity', Infinity)).toBe(false);
  expect(isExactNumber('NaN', NaN)).toBe(false);
});

it('isExactNumber is true for every double in decimal and exponential notation', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(isExactNumber(String(value), value)).toBe(true);
      expect(isExactNumber(value.toExponential(), value)).toBe(true);
    }),
  );
});
