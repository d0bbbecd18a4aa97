import fc from 'fast-check';
import { z } from 'zod';
import type { CollectionDefinition } from '../collection.ts';

/** Values of new records, derived from the schema of a collection. No two have the same value in a unique field. */
export function newRecords({ schema, indexes }: CollectionDefinition, count: number): fc.Arbitrary<object[]> {
  const { id: _id, version: _version, ...shape } = schema.shape;
  const uniques = Object.keys(indexes).filter((field) => indexes[field] === 'unique');
  return fc.uniqueArray(valuesOf(z.toJSONSchema(z.object(shape), { io: 'input' })), {
    minLength: count,
    maxLength: count,
    comparator: (one, other) =>
      uniques.some((field) => Reflect.get(one, field) === (Reflect.get(other, field) ?? NaN)),
  });
}

/** Returns the values that a JSON Schema accepts. @throws {TypeError} for a keyword that it does not know */
function valuesOf(root: z.core.JSONSchema.JSONSchema): fc.Arbitrary<object> {
  function arbitrary(schema: z.core.JSONSchema.JSONSchema | boolean): fc.Arbitrary<unknown> {
    if (typeof schema === 'boolean') return fc.jsonValue();
    const { $ref, anyOf, oneOf, type, minimum, maximum } = schema;
    if ($ref !== undefined) return arbitrary(root.$defs?.[$ref.replace('#/$defs/', '')] ?? {});
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const alternatives = anyOf ?? oneOf;
    if (alternatives !== undefined) return fc.oneof(...alternatives.map(arbitrary));
    if (Array.isArray(type)) return fc.oneof(...type.map((each) => arbitrary({ ...schema, type: each })));
    if (schema.pattern !== undefined || schema.allOf !== undefined) {
      throw new TypeError(`Add a case to contractValues.ts for ${JSON.stringify(schema)}.`);
    }
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({
          min: minimum ?? Number.MIN_SAFE_INTEGER,
          max: maximum ?? Number.MAX_SAFE_INTEGER,
        });
      case 'number':
        // JSON has no -0.
        return fc
          .double({ noNaN: true, noDefaultInfinity: true, min: minimum ?? -1e300, max: maximum ?? 1e300 })
          .map((value) => value + 0);
      case 'string':
        return fc
          .string({ unit: 'binary', minLength: schema.minLength ?? 0, maxLength: schema.maxLength ?? 100 })
          .filter((text) => text.isWellFormed());
      case 'array':
        return fc.array(arbitrary((schema.items as z.core.JSONSchema.JSONSchema | undefined) ?? true), {
          maxLength: 5,
        });
      case 'object':
        return fc.record(
          Object.fromEntries(
            Object.entries(schema.properties ?? {}).map(([field, each]) => [field, arbitrary(each)]),
          ),
          { requiredKeys: schema.required ?? [], noNullPrototype: true },
        );
      default:
        return fc.jsonValue();
    }
  }
  return arbitrary(root) as fc.Arbitrary<object>;
}
