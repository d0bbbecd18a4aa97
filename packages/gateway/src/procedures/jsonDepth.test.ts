import { describe, expect, it } from 'vitest';
import { isDeeper, depthError } from './jsonDepth.ts';

const nested = (depth: number): unknown =>
  JSON.parse(`${'{"a":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`);

describe('isDeeper', () => {
  it.each<[description: string, depth: number, value: unknown]>([
    ['a number', 0, 1],
    ['null', 0, null],
    ['an empty array', 1, []],
    ['an object of scalars', 1, { a: 1, b: null }],
    ['an object whose deepest member is nested twice', 3, { a: 1, b: [[]], c: [] }],
    ['objects in arrays', 6, nested(6)],
    ['a value too deep for recursion', 100_000, nested(100_000)],
    ['bytes', 0, new Uint8Array(3)],
    ['a date', 0, new Date()],
  ])('isDeeper counts the levels of %s: %i', (_description, depth, value) => {
    expect(isDeeper(value, depth)).toBe(false);
    expect(isDeeper(value, depth - 1)).toBe(depth > 0);
  });

  it('isDeeper does not enumerate class instances, such as byte arrays', () => {
    const bytes = new Proxy(new Uint8Array(3), {
      ownKeys: () => expect.fail('its keys were enumerated'),
    });
    expect(isDeeper(bytes, 1)).toBe(false);
  });

  it('isDeeper accepts any depth if the limit is Infinity', () => {
    expect(isDeeper(nested(1000), Infinity)).toBe(false);
  });
});

it('depthError creates a BAD_REQUEST error that names the limit', () => {
  expect(depthError(7)).toMatchObject({
    code: 'BAD_REQUEST',
    limit: 'json-depth',
    message: 'The input is nested deeper than 7 levels.',
  });
});
