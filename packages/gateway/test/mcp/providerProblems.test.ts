import { expect, it } from 'vitest';
import { providerProblems } from './providerProblems.ts';

const top = { type: 'object', properties: {} };
const withProperty = (schema: object, rest: object = {}) => ({ ...top, properties: { a: schema }, ...rest });

it.each<[name: string, inputSchema: Readonly<Record<string, unknown>>]>([
  ['add', top],
  ['add-2_books', withProperty({ anyOf: [{ type: 'string' }, { type: 'null' }], enum: ['x'] })],
  [
    'tree',
    withProperty(
      { $ref: '#/$defs/T', description: 'A tree.' },
      {
        $defs: {
          T: {
            type: 'object',
            properties: { next: { $ref: '#/$defs/T' }, all: { type: 'array', items: { $ref: '#/$defs/T' } } },
            required: ['all'],
          },
        },
      },
    ),
  ],
])('every API accepts the tool %s', (name, inputSchema) => {
  expect(providerProblems({ name, inputSchema })).toEqual([]);
});

const reference = { $ref: '#/$defs/T' };
it.each<[problem: string, name: string, inputSchema: Readonly<Record<string, unknown>>]>([
  ['the name is not 1 to 64', 'books.add', top],
  ['the name is not 1 to 64', 'a'.repeat(65), top],
  ['the type at the top is not "object"', 'add', { properties: {} }],
  ['the top has no properties', 'add', { type: 'object' }],
  ...['$ref', 'allOf', 'anyOf', 'const', 'enum', 'if', 'not', 'oneOf'].map(
    (keyword): [string, string, Readonly<Record<string, unknown>>] => [
      `${keyword} is at the top`,
      'add',
      { ...top, [keyword]: [] },
    ],
  ),
  ['$schema is of no use', 'add', { ...top, $schema: 'https://json-schema.org/draft/2020-12/schema' }],
  ['the property "filter[id]" is not', 'add', { ...top, properties: { 'filter[id]': {} } }],
  ['"#/$defs/T" is no definition of the tool', 'add', withProperty(reference)],
  ['beside "#/$defs/T" is title', 'add', withProperty({ ...reference, title: 'T' }, { $defs: { T: {} } })],
  [
    'T contains itself in properties that are required',
    'add',
    withProperty(reference, {
      $defs: { T: { anyOf: [{ type: 'object', properties: { left: reference }, required: ['left'] }] } },
    }),
  ],
  [
    'it has 1001 enumValues; 1000 are possible',
    'add',
    withProperty({ enum: Array.from({ length: 1001 }, (_, at) => at) }),
  ],
  ['it has 12 levels; 10 are possible', 'add', nested(12)],
])('an API rejects a tool: %s', (problem, name, inputSchema) => {
  expect(providerProblems({ name, inputSchema }).join('\n')).toContain(problem);
});

function nested(levels: number): Readonly<Record<string, unknown>> {
  return levels === 0 ? { type: 'string' } : withProperty(nested(levels - 1));
}
