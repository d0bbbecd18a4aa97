import type { z } from 'zod';

/** Whether a parser is a zod 4 schema, of any installed copy of zod. */
export function isZod(parser: unknown): parser is z.core.$ZodType {
  return typeof parser === 'object' && parser !== null && '_zod' in parser;
}
