import { expect, it } from 'vitest';
import { z } from 'zod';
import type { StandardSchema } from '../procedures/standardSchema.ts';
import { createReadSchema } from './readSchema.ts';

/** Creates a schema of an unknown library. */
const schemaOf = (
  json: (side: string, options: unknown) => Record<string, unknown>,
  validate: StandardSchema['~standard']['validate'] = () => ({ issues: [{ message: 'No.' }] }),
) => ({
  '~standard': {
    version: 1,
    vendor: 'other',
    validate,
    jsonSchema: {
      input: (options: unknown) => json('input', options),
      output: (options: unknown) => json('output', options),
    },
  },
});

const read = (schema: unknown, side: 'input' | 'output' = 'input', converters = {}) => {
  const warnings: string[] = [];
  const result = createReadSchema(converters, (sentence) => warnings.push(sentence))(schema, side, side);
  return { result: result as z.ZodType, warnings };
};

it('readSchema returns a zod schema or a parser function unchanged', () => {
  for (const parser of [z.string(), () => 1, undefined]) expect(read(parser).result).toBe(parser);
});

it('readSchema reads the Standard JSON Schema of a schema, for input or output, in the draft of OpenAPI 3.1', () => {
  const conversions: unknown[] = [];
  const schema = schemaOf((side, options) => {
    conversions.push([side, options]);
    return { type: side === 'input' ? 'string' : 'number' };
  });
  expect(read(schema).result.def.type).toBe('string');
  expect(read(schema, 'output').result.def.type).toBe('number');
  expect(conversions).toEqual([
    ['input', { target: 'draft-2020-12' }],
    ['output', { target: 'draft-2020-12' }],
  ]);
});

it('readSchema uses the converter of a library if its schemas have no Standard JSON Schema', () => {
  const { jsonSchema: _none, ...standard } = schemaOf(() => ({}))['~standard'];
  const schema = { '~standard': standard };
  const converted = schemaOf(() => ({ type: 'integer' }));
  expect(read(schema, 'input', { other: () => converted }).result.def).toMatchObject({ type: 'number' });
  expect(read(schema, 'input').result).toBe(schema);
  expect(read(schema, 'output').warnings).toEqual([expect.stringContaining('jsonSchema: { other: … }')]);
});

it('readSchema warns with the message of a library that throws, and returns its schema unchanged', () => {
  const schema = schemaOf(() => {
    throw new Error('There is no JSON Schema of a Temporal.Instant.');
  });
  const { result, warnings } = read(schema, 'output');
  expect(result).toBe(schema);
  expect(warnings).toEqual([
    'other cannot describe all of its output as JSON Schema, so the document is incomplete: There is no JSON Schema of a Temporal.Instant.',
  ]);
});

it.each([
  ['accepts an absent value', () => ({ value: undefined }), true, true],
  ['has a default for an absent value', () => ({ value: 5 }), true, false],
  ['rejects an absent value', () => ({ issues: [{ message: 'No.' }] }), false, false],
  ['validates asynchronously', () => Promise.reject(new Error('later')), false, false],
  [
    'throws',
    () => {
      throw new Error('thrown');
    },
    false,
    false,
  ],
] as const)(
  'readSchema makes a schema optional only if its parser accepts or returns undefined: a parser that %s',
  (_, validate, input, output) => {
    const schema = schemaOf(() => ({ type: 'number' }), validate);
    expect(read(schema, 'input').result.def.type === 'optional').toBe(input);
    expect(read(schema, 'output').result.def.type === 'optional').toBe(output);
  },
);
