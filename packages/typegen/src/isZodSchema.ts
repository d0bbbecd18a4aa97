import type { z } from 'zod';

/** Returns true if a parser is a zod 4 schema, also of another copy of zod. */
export function isZodSchema(parser: unknown): parser is z.core.$ZodType {
  return typeof parser === 'object' && parser !== null && '_zod' in parser;
}
