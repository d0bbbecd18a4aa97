import { isObject } from '../http/isObject.ts';
import { isZod } from '../procedures/zodSchema.ts';
import { details, type Details } from './schema.ts';

/** The parts of a schema of zod 3 that the gateway reads itself. */
interface Zod3Schema {
  readonly _def: { readonly typeName: string };
  isOptional(): boolean;
}

export const isZod3 = (parser: unknown): parser is Zod3Schema =>
  isObject(parser) &&
  !isZod(parser) &&
  isObject(parser['_def']) &&
  String(parser['_def']['typeName']).startsWith('Zod');

type Json = Record<PropertyKey, unknown>;

/** `zodToJsonSchema`, without its types of zod 3, of which the user has a copy of any version. */
type Convert = (
  schema: Zod3Schema,
  options: Readonly<Record<string, unknown>> & {
    postProcess(json: Json | undefined, def: Zod3Schema['_def']): Json | undefined;
  },
) => Json;

let convert: Convert | undefined;

/** Loads zod-to-json-schema, which brings the code of zod 3 (80 kB), if one of the parsers is of zod 3. */
export async function loadZod3(parsers: readonly unknown[]): Promise<void> {
  if (convert !== undefined || !parsers.some(isZod3)) return;
  const { zodToJsonSchema } = await import('zod-to-json-schema');
  convert = zodToJsonSchema as unknown as Convert;
}

/** The types of zod 3 that JSON does not have, as zod 4 names them. */
const otherTypes: Readonly<Record<string, string>> = {
  ZodBigInt: 'bigint',
  ZodDate: 'date',
  ZodFunction: 'function',
  ZodMap: 'map',
  ZodNaN: 'nan',
  ZodSet: 'set',
  ZodSymbol: 'symbol',
  ZodUndefined: 'undefined',
  ZodVoid: 'void',
};

/** Adds to the JSON Schema of a type what the gateway reads of schemas of zod 4. */
function addDetails(json: Json | undefined, { typeName }: Zod3Schema['_def']): Json | undefined {
  const type = otherTypes[typeName];
  if (type !== undefined) return { ...json, [details]: { type } satisfies Details };
  const { items, additionalItems, ...rest } = json ?? {};
  // A tuple, as draft 2020-12 has it.
  return Array.isArray(items) ? { ...rest, prefixItems: items, items: additionalItems ?? false } : json;
}

/** Returns the JSON Schema of a schema of zod 3, with references such as `#/properties/author` for a part that occurs again. */
export function zod3ToJson(parser: Zod3Schema, side: 'input' | 'output'): Json {
  if (convert === undefined) throw new Error('zod-to-json-schema is not loaded.');
  const { $schema: _dialect, ...json } = convert(parser, {
    target: 'jsonSchema2019-09',
    effectStrategy: side === 'input' ? 'input' : 'any',
    pipeStrategy: side,
    // An input may have unknown properties, which zod removes.
    removeAdditionalStrategy: side === 'input' ? 'strict' : 'passthrough',
    postProcess: addDetails,
  });
  return json;
}
