import fc from 'fast-check';
import { createQuerySerializer } from 'openapi-fetch';
import { stringify, type IStringifyOptions } from 'qs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { operationInput } from '../../operations/operationInput.ts';
import { readZod } from '../../schemas/readSchema.ts';
import { InputDraft } from './inputDraft.ts';

/** Reads the property `q` of an input from a query. Returns its value or its issues. */
function read(schema: z.ZodType, query: string) {
  const rest = { method: 'GET', path: '/x' } as const;
  const { query: known } = operationInput(
    [readZod(z.object({ q: schema.optional() }), 'input')],
    rest,
    ['x'],
    [],
  );
  const draft = new InputDraft(100);
  draft.readFields(query, known);
  const { issues, values: input } = draft;
  return issues.length > 0 ? { issues } : { value: input['q'] };
}

const Item = z.union([z.int(), z.boolean()]);
const text = fc.string({ unit: 'grapheme', maxLength: 6 });
const texts = fc.array(text, { minLength: 1, maxLength: 4 });
const scalars = fc.array(fc.oneof(fc.maxSafeInteger(), fc.boolean()), { minLength: 1, maxLength: 4 });
/** A name that can be written in brackets: no encoder escapes brackets. */
const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 4 })
  .filter((key) => !/[[\]]|^__proto__$/.test(key));

const Tree = z.object({
  text: z.string().optional(),
  level: z.int().optional(),
  list: z.array(z.string()).optional(),
  record: z.record(z.string(), z.boolean()).optional(),
  get child() {
    return Tree.optional();
  },
});
const tree = fc.letrec((tie) => ({
  tree: fc
    .record(
      {
        text,
        level: fc.maxSafeInteger(),
        list: texts,
        record: fc.dictionary(name, fc.boolean(), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
        child: tie('tree'),
      },
      { requiredKeys: [], noNullPrototype: true },
    )
    .filter((value) => Object.keys(value).length > 0),
})).tree;
const flat = fc
  .record({ text, level: fc.maxSafeInteger() }, { requiredKeys: [], noNullPrototype: true })
  .filter((value) => Object.keys(value).length > 0);

const openApiFetch = (options: Parameters<typeof createQuerySerializer>[0]) => (value: unknown) =>
  createQuerySerializer(options)({ q: value });
const withQs = (options: IStringifyOptions) => (value: unknown) => stringify({ q: value }, options);

it.each<
  [description: string, encode: (value: unknown) => string, schema: z.ZodType, values: fc.Arbitrary<unknown>]
>([
  ['repeated names by openapi-fetch', openApiFetch({}), z.array(z.string()), texts],
  ['repeated names by qs', withQs({ arrayFormat: 'repeat' }), z.array(Item), scalars],
  ['lists with brackets by qs', withQs({ arrayFormat: 'brackets' }), z.array(Item), scalars],
  ['numbered lists by qs', withQs({}), z.array(z.string()), texts],
  ['objects by openapi-fetch', openApiFetch({}), Tree, flat],
  ['trees by qs', withQs({ arrayFormat: 'repeat' }), Tree, tree],
  ['trees with lists in brackets by qs', withQs({ arrayFormat: 'brackets' }), Tree, tree],
  ['trees with numbered lists by qs', withQs({}), Tree, tree],
  ['trees in the format of forms by qs', withQs({ arrayFormat: 'repeat', format: 'RFC1738' }), Tree, tree],
])('a procedure receives the value that a client encodes: %s', (_description, encode, schema, values) => {
  fc.assert(
    fc.property(values, (value) => {
      expect(read(schema, encode(value))).toEqual({ value });
    }),
  );
});

it.each([
  ['q=a=b', ['a=b']],
  ['q==', ['=']],
  ['q', ['']],
  ['q=', ['']],
  ['=q=a', undefined],
  ['&q=a&&q=b&', ['a', 'b']],
])('the query %s has the values %j: the first = ends a name, and empty pairs are ignored', (query, value) => {
  expect(read(z.array(z.string()), query)).toEqual({ value });
});

it.each([
  ['a parameter', z.string(), 'q=a&q=b&q=c&q=d', ['q']],
  [
    'a member in brackets',
    z.object({ a: z.string(), b: z.string() }),
    'q[a]=1&q[b]=1&q[a]=2&q[a]=3',
    ['q', 'a'],
  ],
])('%s that is sent several times is one issue', (_, schema, query, path) => {
  expect(read(schema, query).issues).toEqual([
    expect.objectContaining({ path, message: 'must not be sent more than once' }),
  ]);
});

it('a member that an object in brackets does not name is ignored, or an issue if the object is strict', () => {
  const shape = { a: z.string().optional() };
  expect(read(z.object(shape), 'q[b]=1&q[a]=x')).toEqual({ value: { a: 'x' } });
  expect(read(z.strictObject(shape), 'q[b]=1').issues).toEqual([
    {
      code: 'invalid_key',
      path: ['q'],
      message: 'is written as "q[b]"; write each of its members as q[name]',
    },
  ]);
});

it.each([
  ['a part after a bracket', z.object({ a: z.string().optional() }), 'q[a]x[b]'],
  ['an open bracket', z.object({ a: z.string().optional() }), 'q[a'],
  ['a list in a list', z.object({ a: z.array(z.string()).optional() }), 'q[a][0][1]'],
])('a name with %s is an issue', (_, schema, written) => {
  expect(read(schema, `${written}=x`).issues).toMatchObject([{ code: 'invalid_key', path: ['q'] }]);
});

it.each<[query: string, schema: z.ZodType, issue: object]>([
  ['q=x', z.int(), { code: 'invalid_type', expected: 'int' }],
  ['q=9007199254740993', z.int(), { code: 'invalid_type', expected: 'int' }],
  ['q=%ff', z.int(), { code: 'invalid_format', format: 'utf-8' }],
  ['q=2026', z.date(), { code: 'invalid_type', expected: 'date' }],
  ['q=x', z.bigint(), { code: 'invalid_type', expected: 'bigint' }],
  ['q=x', z.enum(['new', 'old']), { code: 'invalid_value', values: ['new', 'old'] }],
  ['q=x', z.union([z.int(), z.literal('last')]), { code: 'invalid_union' }],
])('the issue of %s has the code and the details of zod: %#', (query, schema, issue) => {
  expect(read(schema, query).issues).toMatchObject([{ ...issue, path: ['q'] }]);
});

it('a name of a record in brackets may be __proto__', () => {
  const { value } = read(z.record(z.string(), z.string()), 'q[__proto__]=x');
  expect(Object.entries(value as object)).toEqual([['__proto__', 'x']]);
});
