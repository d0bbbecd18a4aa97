import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineCollection } from './collection.ts';

const definitionWith = (shape: z.ZodRawShape, name = 'cats') =>
  defineCollection({ name, schema: z.object({ id: z.int(), ...shape }), id: 'sequence' });

test.for([
  ['a date', z.date()],
  ['a bigint', z.bigint()],
  ['a nested map', z.object({ inner: z.map(z.string(), z.string()) }).exactOptional()],
  ['a list of dates', z.array(z.date())],
] as const)(
  'defineCollection rejects a field of %s, which JSON does not have, and names the field',
  ([, type]) => {
    expect(() => definitionWith({ name: z.string(), since: type })).toThrow(
      /^The collection cats cannot store the field since: .+ Rows are JSON: use a type that JSON has, such as a string for a date\.$/,
    );
  },
);

test('defineCollection accepts fields of every JSON type', () => {
  const definition = definitionWith({
    text: z.iso.datetime(),
    number: z.number(),
    isDone: z.boolean(),
    nothing: z.null(),
    list: z.array(z.unknown()),
    map: z.record(z.string(), z.json()),
    either: z.union([z.literal('a'), z.strictObject({ a: z.int() })]),
    refined: z.string().refine((text) => text !== ''),
  });
  const values = { text: '2026-11-22T08:00:00Z', number: 0.5, isDone: true, nothing: null, list: [{}] };
  const record = { id: 1, ...values, map: { a: [1] }, either: { a: 1 }, refined: 'x' };
  expect(definition.check(record)).toEqual(record);
});

test.for(['Cats', 'my cats', 'cats.names', '', 'counters', 'keys', 'meta', 'reservations'])(
  'defineCollection rejects the name %j',
  (name) => {
    expect(() => definitionWith({}, name)).toThrow(
      `A collection cannot be named ${JSON.stringify(name)}: use a plural such as "animals".`,
    );
  },
);

test('defineCollection rejects a field whose name begins with _', () => {
  expect(() => definitionWith({ _hidden: z.string() })).toThrow(
    'The collection cats has a field _hidden. Names that begin with _ are reserved for the store.',
  );
});
