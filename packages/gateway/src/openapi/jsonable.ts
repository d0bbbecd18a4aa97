import { z } from 'zod';

type Schema = z.core.$ZodTypes;

/** What a conversion of a schema to JSON Schema shows. */
interface JsonInspection {
  /** Why JSON cannot carry the schema, in words that follow the procedure's name. */
  readonly problem: string | undefined;
  /** Every `z.date()` within the schema, itself included. */
  readonly dates: ReadonlySet<z.core.$ZodType>;
}

/**
 * Finds what JSON cannot carry, or the document cannot describe. An input that no JSON text can satisfy, or an output that
 * `JSON.stringify` throws on, would otherwise fail when it is called.
 */
export function inspectJson(schema: z.core.$ZodType, side: 'input' | 'output'): JsonInspection {
  const problems: { readonly place: string; readonly reason: string }[] = [];
  const described = new Set<string>();
  const dates = new Set<z.core.$ZodType>();
  z.toJSONSchema(schema, {
    io: side,
    unrepresentable({ zodSchema, path }) {
      const reason = reasonAgainst(zodSchema);
      if (reason !== undefined) problems.push({ place: fieldName(path), reason });
      return {};
    },
    override({ zodSchema, path }) {
      const { type } = zodSchema._zod.def;
      if (type === 'date') dates.add(zodSchema);
      // A file has a JSON schema, that of a string, since OpenAPI describes the parts of a form so.
      if (type === 'file') {
        const reason = 'is a file, which JSON has not: multipart/form-data alone can carry it';
        problems.push({ place: fieldName(path), reason });
      }
      if (z.globalRegistry.get(zodSchema)?.['override'] !== undefined) described.add(fieldName(path));
    },
  });
  const first = problems.find(({ place }) => !described.has(place));
  return { problem: first && `${first.place} ${first.reason}`, dates };
}

function reasonAgainst(schema: Schema): string | undefined {
  const { type } = schema._zod.def;
  switch (type) {
    case 'bigint':
      return 'is a bigint, which JSON has not; use z.int() or a string';
    case 'map':
    case 'set':
      return `is a ${type}, which JSON has not; use an object or an array`;
    case 'symbol':
    case 'function':
    case 'nan':
    case 'promise':
      return `is of the kind "${type}", which JSON has not`;
    case 'transform':
    case 'custom':
      return `is a ${type === 'custom' ? 'custom schema' : 'transform'}, which does not say what it is in JSON; say it with .meta({ override: { type: … } })`;
    default:
      return undefined;
  }
}

function fieldName(path: readonly (string | number)[]): string {
  const names = path.filter((segment, index) => segment !== 'properties' || path[index - 1] === 'properties');
  return names.length === 0 ? 'its value' : `"${names.join('.')}"`;
}
