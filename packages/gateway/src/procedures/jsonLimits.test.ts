import { describe, expect, it } from 'vitest';
import { jsonError } from './jsonLimits.ts';

const nested = (depth: number): unknown =>
  JSON.parse(`${'{"a":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`);

const limitOf = (value: unknown, maxJsonDepth: number, maxJsonContainers = Infinity) =>
  jsonError(value, { maxJsonDepth, maxJsonContainers })?.limit;

describe('jsonError', () => {
  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1]));

  it.each<[description: string, depth: number, count: number, value: unknown]>([
    ['a number', 0, 0, 1],
    ['null', 0, 0, null],
    ['an empty array', 1, 1, []],
    ['an object of scalars', 1, 1, { a: 1, b: null }],
    ['an object whose deepest member is nested twice', 3, 4, { a: 1, b: [[]], c: [] }],
    ['arrays and objects', 3, 5, { a: [{}, {}], b: { c: 1 } }],
    ['an object of 1,000 names', 1, 1, names(1000)],
    ['an object of 1,001 names', 2, 1002, [names(1001)]],
    ['a value too deep for recursion', 100_000, 100_000, nested(100_000)],
    ['a date', 0, 0, new Date()],
  ])('counts the levels of %s: %i, and its arrays and objects: %i', (_description, depth, count, value) => {
    expect(limitOf(value, depth, count)).toBeUndefined();
    expect(limitOf(value, depth - 1)).toBe(depth > 0 ? 'json-depth' : undefined);
    expect(limitOf(value, Infinity, count - 1)).toBe(count > 0 ? 'json-containers' : undefined);
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
