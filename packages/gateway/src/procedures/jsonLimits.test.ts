import { describe, expect, it } from 'vitest';
import { jsonError } from './jsonLimits.ts';

const nested = (depth: number): unknown =>
  JSON.parse(`${'{"a":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`);

const limitOf = (value: unknown, maxJsonDepth: number, maxJsonContainers = Infinity) =>
  jsonError(value, { maxJsonDepth, maxJsonContainers })?.limit;

describe('jsonError', () => {
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
  ])('counts the levels of %s: %i', (_description, depth, value) => {
    expect(limitOf(value, depth)).toBeUndefined();
    expect(limitOf(value, depth - 1)).toBe(depth > 0 ? 'json-depth' : undefined);
  });

  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1]));

  it.each<[description: string, count: number, value: unknown]>([
    ['an array of scalars', 1, [1, 2, 3]],
    ['arrays and objects', 5, { a: [{}, {}], b: { c: 1 } }],
    ['an object of 1,000 names', 1, names(1000)],
    ['an object of 1,001 names', 1002, [names(1001)]],
    ['a deep value', 1000, nested(1000)],
  ])('counts the arrays and objects of %s: %i', (_description, count, value) => {
    expect(limitOf(value, Infinity, count)).toBeUndefined();
    expect(limitOf(value, Infinity, count - 1)).toBe('json-containers');
  });

  it('does not count the levels around an input', () => {
    const limits = { maxJsonDepth: 1, maxJsonContainers: Infinity };
    expect(jsonError([[], {}], limits, 1)).toBeUndefined();
    expect(jsonError([[], { a: [] }], limits, 1)).toMatchObject({ limit: 'json-depth' });
    const three = { maxJsonDepth: 9, maxJsonContainers: 3 };
    expect(jsonError([[], { a: [] }], three, 1)).toBeUndefined();
    expect(jsonError([[], { a: [{}] }], three, 1)).toMatchObject({ limit: 'json-containers' });
  });

  it('does not enumerate class instances, such as byte arrays', () => {
    const bytes = new Proxy(new Uint8Array(3), {
      ownKeys: () => expect.fail('its keys were enumerated'),
    });
    expect(limitOf(bytes, 1)).toBeUndefined();
  });
});
