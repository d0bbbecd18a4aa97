import { expect, it } from 'vitest';
import { percentDecode } from './textParameters.ts';

it.each([
  ['name', 'name'],
  ['', ''],
  ['a+b', 'a+b'],
  ['a%20b%2F%25', 'a b/%'],
  ['%C3%A4', 'ä'],
  ['%F0%9F%90%88', '🐈'],
  ['%', undefined],
  ['%zz', undefined],
  ['%FF', undefined],
  ['%C3', undefined],
])('percentDecode("%s") returns %j', (text, decoded) => {
  expect(percentDecode(text)).toBe(decoded);
});
