import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isExact } from './exactNumber.ts';

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
])('isExact(%s) is true for its parsed value', (literal) => {
  expect(isExact(literal, Number(literal))).toBe(true);
});

it.each([
  '9007199254740993',
  '0.1000000000000000055511151231257827',
  '1e400',
  '-1e400',
  '1e-400',
  '7.00000000000000001',
])('isExact(%s) is false for its parsed value', (literal) => {
  expect(isExact(literal, Number(literal))).toBe(false);
});

it.each([
  ['7', -7],
  ['70', 7],
  ['7', 70],
  ['0.7', 7],
  ['1e2', 1000],
  ['1e2', 10],
  ['1.5', 15],
])('isExact(%s, %d) is false', (literal, value) => {
  expect(isExact(literal, value)).toBe(false);
});

it('isExact is false for text that is not a decimal literal', () => {
  expect(isExact('x', 7)).toBe(false);
  expect(isExact('7x', 7)).toBe(false);
  expect(isExact('x7', 7)).toBe(false);
  expect(isExact('Infinity', Infinity)).toBe(false);
  expect(isExact('NaN', NaN)).toBe(false);
});

it('isExact is true for every double in decimal and exponential notation', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(isExact(String(value), value)).toBe(true);
      expect(isExact(value.toExponential(), value)).toBe(true);
    }),
  );
});
