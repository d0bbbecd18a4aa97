import { z } from 'zod';

type Schema = z.core.$ZodTypes;

/**
 * What stands against carrying a schema in JSON, or against describing it in the document, in words that follow the
 * procedure's name; `undefined` where nothing does. An input that no JSON text can satisfy, or an output that
 * `JSON.stringify` throws on, would else only fail once somebody calls it.
 */
export function unjsonable(schema: z.core.$ZodType, side: 'input' | 'output'): string | undefined {
  const found: { readonly place: string; readonly reason: string }[] = [];
  const described = new Set<string>();
  z.toJSONSchema(schema, {
    io: side,
    unrepresentable({ zodSchema, path }) {
      const reason = reasonAgainst(zodSchema);
      if (reason !== undefined) found.push({ place: fieldName(path), reason });
      return {};
    },
    override({ zodSchema, path }) {
      // It has a JSON schema, a text's, since OpenAPI describes the parts of a form so.
      if (zodSchema._zod.def.type === 'file') {
        const reason = 'is a file, which JSON has not: multipart/form-data alone can carry it';
        found.push({ place: fieldName(path), reason });
      }
      if (z.globalRegistry.get(zodSchema)?.['override'] !== undefined) described.add(fieldName(path));
    },
  });
  const first = found.find(({ place }) => !described.has(place));
  return first && `${first.place} ${first.reason}`;
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
