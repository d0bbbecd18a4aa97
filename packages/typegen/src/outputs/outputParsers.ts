import type { OutputSchemas } from 'trpc-gateway';
import type { ZodSchema } from 'trpc-gateway/schemas';
import * as z from 'zod';

/** Returns a zod schema of what each procedure returns, as JSON has it, whose types have the names of the program. */
export function outputParsers({ procedures, $defs }: OutputSchemas): Readonly<Record<string, ZodSchema>> {
  const references = Object.keys($defs).map((name) => `#/$defs/${name}`);
  // In one schema, so that a type is the same in all procedures.
  const { shape } = z.fromJSONSchema({
    type: 'object',
    properties: {
      ...allClosed(procedures),
      ...Object.fromEntries(references.map(($ref) => [$ref, { $ref }])),
    },
    $defs: allClosed($defs),
  } as z.core.JSONSchema.JSONSchema) as z.ZodObject;
  const schemaOf = (name: string) => (shape[name] as z.ZodOptional).unwrap() as z.ZodType;
  for (const [index, id] of Object.keys($defs).entries()) {
    const schema = schemaOf(references[index] ?? '');
    z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id });
  }
  return Object.fromEntries(
    Object.keys(procedures).map((path) => {
      const output = schemaOf(path);
      // `{ not: {} }`: JSON has no `undefined`.
      if (output instanceof z.ZodNever) return [path, z.void()];
      const [present, ...others] = output instanceof z.ZodUnion ? output.options : [output];
      const isAbsent = others.at(-1) instanceof z.ZodNever;
      return [path, isAbsent && present ? z.optional(present as z.ZodType) : output];
    }),
  );
}

/** Returns a JSON Schema whose objects have no other properties than those of their types; what is left open is `unknown`. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Object.keys(schema).every((keyword) => keyword === 'description'))
    return { ...schema, typescript: 'unknown' };
  const copy: Record<string, unknown> = { ...schema };
  for (const [keyword, value] of Object.entries(schema))
    if (keyword === 'properties') copy[keyword] = allClosed(value as object);
    else if (keyword !== 'not') copy[keyword] = closed(value);
  const isObject = copy['type'] === 'object' && 'properties' in copy;
  return isObject ? { additionalProperties: false, ...copy } : copy;
}

const allClosed = (schemas: object) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closed(schema)]));
