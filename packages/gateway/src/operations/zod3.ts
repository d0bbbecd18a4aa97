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

/** `zodToJsonSchema`, whose own types are those of each kind of schema. */
type Convert = (
  schema: Zod3Schema,
  options: Readonly<Record<string, unknown>> & {
    postProcess(json: Json | undefined, def: Zod3Schema['_def']): Json | undefined;
  },
) => Json;

/** zod-to-json-schema, once it is loaded. */
let convert: Convert | undefined;

/** Loads zod-to-json-schema if one of the parsers is of zod 3. It is an optional package, without which these are rejected. */
export async function loadZod3(parsers: readonly unknown[]): Promise<void> {
  if (convert !== undefined || !parsers.some(isZod3)) return;
  const loaded = await import('zod-to-json-schema').catch(() => undefined);
  convert = loaded?.zodToJsonSchema as Convert | undefined;
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

/**
 * Returns the JSON Schema of a schema of zod 3, with references such as `#/properties/author` for a part that occurs again.
 * @returns `undefined` if zod-to-json-schema is not installed
 */
export function zod3ToJson(parser: Zod3Schema, side: 'input' | 'output'): Json | undefined {
  if (convert === undefined) return undefined;
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
