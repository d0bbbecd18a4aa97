import { describe, expect, it } from 'vitest';
import { isDeeper, tooDeep } from './jsonDepth.ts';

const nested = (depth: number): unknown =>
  JSON.parse(`${'{"a":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`);

describe('the depth of a value', () => {
  it.each<[what: string, value: unknown, depth: number]>([
    ['a number', 1, 0],
    ['null', null, 0],
    ['an empty array', [], 1],
    ['an object of scalars', { a: 1, b: null }, 1],
    ['the deepest of several members', { a: 1, b: [[]], c: [] }, 3],
    ['objects in arrays', nested(6), 6],
    ['what no recursion could look at', nested(100_000), 100_000],
    ['bytes', new Uint8Array(3), 0],
    ['a date', new Date(), 0],
  ])('of %s', (_what, value, depth) => {
    expect(isDeeper(value, depth)).toBe(false);
    expect(isDeeper(value, depth - 1)).toBe(depth > 0);
  });

  it('is not looked for in an instance of a class, whose bytes may be many', () => {
    const bytes = new Proxy(new Uint8Array(3), {
      ownKeys: () => expect.fail('it was looked into'),
    });
    expect(isDeeper(bytes, 1)).toBe(false);
  });

  it('is never too much where there is no limit', () => {
    expect(isDeeper(nested(1000), Infinity)).toBe(false);
  });
});

it('an input that is too deep is a 400 that names the limit', () => {
  expect(tooDeep(7)).toMatchObject({
    code: 'BAD_REQUEST',
    limit: 'json-depth',
    message: 'The input is nested deeper than 7 levels.',
  });
});
