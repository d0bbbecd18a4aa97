import type { z } from 'zod';
import { isObject } from '../http/isObject.ts';

/** Converts the value of a schema. Of an object, it replaces the properties in place. */
export type Conversion = (value: unknown) => unknown;

const keep: Conversion = (value) => value;

/** A value that a conversion throws for is kept, and the schema rejects it. */
const attempt =
  (convert: Conversion): Conversion =>
  (value) => {
    try {
      return convert(value);
    } catch {
      return value;
    }
  };

/** The conversions of `z.coerce`, by type. */
const conversionOfType: Readonly<Record<string, Conversion | undefined>> = {
  number: attempt(Number),
  boolean: Boolean,
  bigint: attempt((value) => BigInt(value as string)),
  date: attempt((value) => new Date(value as string)),
};

/**
 * Returns the conversion of a whole input as trpc-to-openapi 3.3 converts it (`coerceSchema`): numbers, booleans,
 * bigints and dates that are properties, or items of properties, by the functions of `z.coerce`, in nested objects too.
 * What is in unions, records, intersections and pipes is kept, except a pipe of the whole input.
 */
export function lenientConversion(input: z.core.$ZodType): Conversion {
  const { def } = input._zod as z.core.$ZodTypes['_zod'];
  if (def.type === 'pipe') return lenientConversion(def.out._zod.def.type === 'transform' ? def.in : def.out);
  return 'innerType' in def ? lenientConversion(def.innerType) : conversionOf(input, new Map());
}

/** @param known the conversions of schemas, because a schema may contain itself */
function conversionOf(schema: z.core.$ZodType, known: Map<z.core.$ZodType, Conversion>): Conversion {
  const other = known.get(schema);
  if (other) return other;
  let conversion = keep;
  known.set(schema, (value) => conversion(value));
  conversion = createConversion(schema, known);
  known.set(schema, conversion);
  return conversion;
}

function createConversion({ _zod }: z.core.$ZodType, known: Map<z.core.$ZodType, Conversion>): Conversion {
  const { def } = _zod as z.core.$ZodTypes['_zod'];
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault': {
      const convert = conversionOf(def.innerType, known);
      const absent = def.type === 'nullable' ? null : undefined;
      return (value) => (value === absent ? value : convert(value));
    }
    case 'lazy':
      return conversionOf((_zod as z.core.$ZodLazyInternals).innerType, known);
    case 'array': {
      const convert = conversionOf(def.element, known);
      return (value) => (Array.isArray(value) ? value.map(convert) : value);
    }
    case 'object': {
      const properties = Object.entries(def.shape).map(
        ([name, each]) => [name, conversionOf(each, known)] as const,
      );
      return (value) => {
        if (!isObject(value)) return value;
        for (const [name, convert] of properties) {
          if (Object.hasOwn(value, name)) value[name] = convert(value[name]);
        }
        return value;
      };
    }
    default:
      return conversionOfType[def.type] ?? keep;
  }
}
