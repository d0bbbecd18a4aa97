import { expect, it } from 'vitest';
import { type Header, isWritableHeader } from './response.ts';

it.each<Header>([
  ['x-a', ''],
  ['X-A', 'a b\tc'],
  ['location', '/ü'],
])('isWritableHeader accepts %s: %j, also when the name is cached', (name, value) => {
  expect(isWritableHeader([name, value])).toBe(true);
  expect(isWritableHeader([name, value])).toBe(true);
});

it.each<[name: unknown, value: unknown]>([
  ['x-a', 'a\r\nx-b: c'],
  ['x-a', 'a\n'],
  ['x-a', 'a\0'],
  ['x-a', 5],
  ['x-a', undefined],
  ['x a', 'b'],
  ['', 'b'],
  [5, 'b'],
  ['Connection', 'close'],
  ['content-length', '5'],
  ['Transfer-Encoding', 'chunked'],
  ['Trailer', 'x-checksum'],
])('isWritableHeader rejects %j: %j, also when the name is cached', (name, value) => {
  isWritableHeader([name, 'valid'] as unknown as Header);
  expect(isWritableHeader([name, value] as unknown as Header)).toBe(false);
});
