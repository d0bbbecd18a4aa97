import type { z } from 'zod';
import { discardOutput, ignoreRejections } from '../http/asyncValues.ts';
import { internalsIn, isZod } from '../schemas/zodSchema.ts';
import { parseFunction, type Parser } from './parseFunction.ts';

/** The types of zod schemas whose values have no promises and async iterables in them, apart from their parts. */
const syncTypes: ReadonlySet<z.core.$ZodTypeDef['type']> = new Set([
  'array',
  'bigint',
  'boolean',
  'catch',
  'date',
  'default',
  'enum',
  'file',
  'int',
  'intersection',
  'literal',
  'map',
  'nan',
  'never',
  'nonoptional',
  'null',
  'nullable',
  'number',
  'object',
  'optional',
  'pipe',
  'prefault',
  'readonly',
  'record',
  'set',
  'string',
  'success',
  'symbol',
  'template_literal',
  'tuple',
  'undefined',
  'union',
  'void',
]);

/** Only a zod schema can exclude promises and async iterables, which JSON lacks: then no call searches. */
export function mayBeAsync(parser: Parser | undefined): boolean {
  if (!isZod(parser)) return true;
  try {
    return [...internalsIn(parser)].some(({ def }) => !syncTypes.has(def.type));
  } catch {
    // A getter of the schema throws, as each call of the procedure will.
    return true;
  }
}

/** Creates the parser of events for protocols that send JSON. `parser` is `undefined` without a schema. */
export function eventFunction(parser: Parser | undefined): (event: unknown) => unknown {
  let parse: ReturnType<typeof parseFunction> | undefined;
  const isSearched = mayBeAsync(parser);
  return (event) => {
    // An event that the schema rejects may have them too.
    ignoreRejections(event);
    try {
      const parsed = parser ? (parse ??= parseFunction(parser))(event) : event;
      if (isSearched) void Promise.resolve(parsed).then(release, release);
      // A parser may reject later, as that of @trpc/server before 11.25 does.
      else if (parsed instanceof Promise) void parsed.catch(release);
      return parsed;
    } catch (error) {
      discardOutput(event);
      throw error;
    }
    function release() {
      discardOutput(event);
    }
  };
}
