import { z } from 'zod';
// Not public, but without a public equivalent: tRPC's conversion of a parser of any library to a function.
import { getParseFn } from '@trpc/server/unstable-core-do-not-import';
import { isZod } from './isZod.ts';

export type Parser = Parameters<typeof getParseFn>[0];
type Parse = (value: unknown) => unknown;

/**
 * Returns a function that parses as tRPC does. zod schemas are compiled (`z.compile`), with the same results and
 * errors: 20 animals take 0.5 µs instead of 5.6. If compiled code rejects a value, zod parses it again to find the
 * issues, so checks and `overwrite` may run twice. Schemas with transforms are not compiled, since a transform may have
 * side effects.
 *
 * A schema is compiled at the first call, since that takes 0.5 ms and a router may have a thousand schemas.
 */
export function parseFunction(parser: Parser): Parse {
  let parse: Parse | undefined;
  return (value) => {
    parse ??= getParseFn(isZod(parser) && !hasTransform(parser) ? (z.compile(parser) as Parser) : parser);
    return parse(value);
  };
}

/** Whether a schema, or one nested in it, calls a user-defined function that changes values. */
function hasTransform(schema: z.core.$ZodType, seen = new Set<z.core.$ZodType>()): boolean {
  // A schema may be recursive, through a getter of an object.
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  // A `lazy` may return another schema each time.
  if (def.type === 'transform' || def.type === 'lazy') return true;
  // A codec is a pipe with its own functions.
  if (def.type === 'pipe' && def.transform !== undefined) return true;
  return nestedSchemas(def).some((part) => hasTransform(part, seen));
}

/** Lists the nested schemas. Getters are not read: the default value is a getter that calls a user-defined function. */
function nestedSchemas(def: z.core.$ZodTypes['_zod']['def']): readonly z.core.$ZodType[] {
  if (def.type === 'object') return [...Object.values(def.shape), def.catchall].filter(isZod);
  const properties: readonly PropertyDescriptor[] = Object.values(Object.getOwnPropertyDescriptors(def));
  return properties.flatMap(({ value }) => value as unknown).filter(isZod);
}
