import { isObject } from '../http/isObject.ts';
import { definitionOf, lazyTarget, type ZodSchema } from '../schemas/zodSchema.ts';

/** `BigInt` takes 223 ms for 900,000 digits. A longer text is kept, and its schema rejects it. */
const maxBigintLength = 1000;

/** The functions of `z.coerce`, by type. */
const coercions: Readonly<Record<string, ((value: unknown) => unknown) | undefined>> = {
  number: Number,
  boolean: Boolean,
  bigint: (value) => (String(value).length > maxBigintLength ? value : BigInt(value as string)),
  date: (value) => new Date(value as string),
};

/**
 * Converts a whole input as trpc-to-openapi 3.3 does (`coerceSchema`): numbers, booleans, bigints and dates that are
 * properties, or items of properties, by the functions of `z.coerce`, in nested objects too. What is in unions, records,
 * intersections and pipes is kept, except a pipe of the whole input. Properties are replaced in place.
 */
export function convertLeniently(input: ZodSchema, value: unknown): unknown {
  const def = definitionOf(input);
  if (def.type === 'pipe') {
    return convertLeniently(definitionOf(def.out).type === 'transform' ? def.in : def.out, value);
  }
  return 'innerType' in def ? convertLeniently(def.innerType, value) : convert(input, value);
}

function convert(schema: ZodSchema, value: unknown): unknown {
  const def = definitionOf(schema);
  switch (def.type) {
    case 'nullable':
      return value === null ? value : convert(def.innerType, value);
    case 'optional':
    case 'default':
    case 'prefault':
      return convert(def.innerType, value);
    case 'lazy':
      return convert(lazyTarget(schema), value);
    case 'array':
      return Array.isArray(value) ? value.map((item) => convert(def.element, item)) : value;
    case 'object':
      if (!isObject(value)) return value;
      for (const [name, property] of Object.entries(def.shape)) {
        if (Object.hasOwn(value, name)) value[name] = convert(property, value[name]);
      }
      return value;
    default:
      try {
        return coercions[def.type]?.(value) ?? value;
      } catch {
        // The schema rejects it.
        return value;
      }
  }
}
