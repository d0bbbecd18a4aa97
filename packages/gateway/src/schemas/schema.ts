import type { z } from 'zod';
import { classOf } from './zodSchema.ts';

/** The keyword for `Details` that JSON Schema does not have. A symbol, so that the document does not contain it. */
export const details = Symbol('details');

/**
 * The one model of a schema of any library: its JSON Schema (draft 2020-12), and `details` beyond it. Converters,
 * places and the document derive from it; the procedure's own schema validates.
 */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly multipleOf?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema | boolean;
  readonly prefixItems?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly description?: string;
  readonly [details]?: Details;
}

export interface Details {
  /** The type as zod names it, if JSON does not have it. */
  readonly type?: string;
  /** The definition of a `z.custom()`. */
  readonly custom?: z.core.$ZodCustomDef;
  /** Whether it is the form of an input that the procedure receives as a `FormData`. */
  readonly isForm?: boolean;
  /** The property that tells the members of a union apart, and its values by member. */
  readonly discriminator?:
    | { readonly propertyName: string; readonly values: readonly (readonly string[])[] }
    | undefined;
  /** An intersection with a union that keeps unknown properties, which zod's JSON Schema leaves out (4.6). */
  readonly mergesLoose?: boolean;
  /** The values of a `z.literal()`, which JSON may not have. */
  readonly values?: readonly unknown[];
  /** Whether `undefined` is accepted (input) or returned (output), or the property may be absent. */
  readonly isOptional?: boolean;
  /** Whether a member of a union requires the property and accepts `null`, although others lack it. */
  readonly requiresNull?: boolean;
  /** Whether the metadata of a schema that JSON cannot represent has a JSON Schema for the document (`override`). */
  readonly isDescribed?: boolean;
  /** The zod schema that validates the values; `undefined` for other libraries. */
  readonly parser?: z.core.$ZodType;
  /** The schema that `$ref` names. */
  readonly target?: Schema;
  /** The name of the TypeScript type that it describes (`InferredOutput`). */
  readonly typeName?: string;
}

/** The properties of an input, by name. */
export type Shape = Readonly<Record<string, Schema>>;

/** The keywords that say something, and restrict nothing. */
export const annotations = new Set(['default', 'deprecated', 'description', 'examples', 'title']);

const schemaKeywords = new Set(['additionalProperties', 'contains', 'items', 'not', 'propertyNames']);
const listKeywords = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const mapKeywords = new Set(['patternProperties', 'properties']);

/** Returns a copy of a JSON Schema in which `map` replaces the nested schemas. Other members are kept. */
export function mapSchemas(
  schema: object,
  map: (nested: object, keyword: string, name: string) => object,
): Schema {
  const copy: Record<string, unknown> = { ...schema };
  for (const keyword of Object.keys(copy)) {
    const value = copy[keyword];
    if (typeof value !== 'object' || value === null) continue;
    if (schemaKeywords.has(keyword)) copy[keyword] = map(value, keyword, '');
    else if (listKeywords.has(keyword) && Array.isArray(value)) {
      copy[keyword] = value.map((nested: object) => map(nested, keyword, ''));
    } else if (mapKeywords.has(keyword)) {
      const entries = Object.entries(value as Record<string, object>);
      copy[keyword] = Object.fromEntries(entries.map(([name, nested]) => [name, map(nested, keyword, name)]));
    }
  }
  return copy;
}

/** Yields a schema and all schemas in it once each, with the names of the properties that lead there. */
export function* schemasIn(
  schema: Schema,
  path: readonly string[] = [],
  seen = new Set<Schema>(),
): Generator<readonly [schema: Schema, path: readonly string[]]> {
  if (seen.has(schema)) return;
  seen.add(schema);
  yield [schema, path];
  const found: (readonly [Schema, readonly string[]])[] = [];
  mapSchemas(schema, (nested, keyword, name) => {
    found.push([nested, keyword === 'properties' ? [...path, name] : path]);
    return nested;
  });
  const { target } = schema[details] ?? {};
  if (target) found.push([target, path]);
  for (const [nested, at] of found) yield* schemasIn(nested, at, seen);
}

/** The maximum number of references to follow. A schema with more contains itself. */
export const maxDepth = 50;

/**
 * Follows references, and drops `null` and `undefined` beside one other member: what is converted is never `null`.
 * `undefined` for a schema that only contains itself.
 */
export function innermost(schema: Schema, depth = 0): Schema | undefined {
  if (depth > maxDepth) return undefined;
  const { target } = schema[details] ?? {};
  if (target) return innermost(target, depth + 1);
  const [member, ...others] = (schema.anyOf ?? schema.oneOf ?? []).filter((each) => !isAlwaysAbsent(each));
  return member && others.length === 0 && !isObjectLike(schema) ? innermost(member, depth + 1) : schema;
}

/** Returns the JSON type of a schema, or the one in its details. `undefined` for none, or several. */
export function typeOf(schema: Schema): string | undefined {
  const { type } = schema[details] ?? {};
  if (type !== undefined) return type;
  const [only, ...others] = [schema.type ?? []].flat().filter((each) => each !== 'null');
  if (only !== undefined) return others.length === 0 ? only : undefined;
  return schema.type === undefined && isObjectLike(schema) ? 'object' : [schema.type].flat()[0];
}

const isObjectLike = ({ properties, additionalProperties }: Schema) =>
  properties !== undefined || additionalProperties !== undefined;

/** Returns the members of a union; `undefined` if a schema is none. */
export const membersOf = (schema: Schema): readonly Schema[] | undefined =>
  schema.anyOf ??
  schema.oneOf ??
  (Array.isArray(schema.type)
    ? (schema.type as readonly string[]).map((type) => Object.assign({}, schema, { type }))
    : undefined);

export const valuesOf = (schema: Schema): readonly unknown[] | undefined =>
  schema[details]?.values ?? ('const' in schema ? [schema.const] : schema.enum);

/** Whether a schema accepts only absent values. In a union it adds no properties. */
export const isAlwaysAbsent = (schema: Schema): boolean =>
  ['null', 'undefined', 'void'].includes(typeOf(schema) ?? '') || isNever(schema) || schema.const === null;

export const isNever = ({ not }: Schema): boolean => not !== undefined && Object.keys(not).length === 0;

export const isVoid = (schema: Schema): boolean => ['undefined', 'void'].includes(typeOf(schema) ?? '');

export const acceptsUndefined = (schema: Schema): boolean => {
  const { isOptional, target } = schema[details] ?? {};
  return isOptional ?? (target?.[details]?.isOptional || false);
};

export function acceptsNull(schema: Schema, depth = 0): boolean {
  const { target } = schema[details] ?? {};
  if (depth > maxDepth) return false;
  if (target) return acceptsNull(target, depth + 1);
  const values = valuesOf(schema);
  if (values) return values.includes(null);
  const { allOf = [], type } = schema;
  const accepts = (part: Schema) => acceptsNull(part, depth + 1);
  return (
    [type].flat().includes('null') ||
    (schema.anyOf ?? schema.oneOf ?? []).some(accepts) ||
    (allOf.length > 0 && allOf.every(accepts))
  );
}

/** Whether a property can have `null`, but its absence is another value, or none. */
export const requiresNull = (schema: Schema): boolean =>
  schema[details]?.requiresNull ?? (acceptsNull(schema) && !acceptsUndefined(schema));

export function acceptsSample({ fn }: z.core.$ZodCustomDef, sample: unknown): boolean {
  try {
    return fn(sample) === true;
  } catch {
    return false;
  }
}

export type BytesKind = 'stream' | 'bytes' | 'blob';

/** Returns which bytes a `z.instanceof()` accepts. In zod 4.6, `.meta()` drops its class, so this tries a sample of each. */
export function bytesKind({ [details]: own = {} }: Schema): BytesKind | undefined {
  const { custom } = own;
  if (!custom || acceptsSample(custom, {})) return undefined;
  if (acceptsSample(custom, new ReadableStream())) return 'stream';
  if (acceptsSample(custom, new Uint8Array(0))) return 'bytes';
  return acceptsSample(custom, new Blob([])) ? 'blob' : undefined;
}

/** Returns what a `z.instanceof()` accepts, if that is a form, a `File` or a class of bytes. */
export function binaryKind(schema: Schema): 'File' | 'FormData' | 'bytes' | undefined {
  const { custom, parser } = schema[details] ?? {};
  if (!custom || acceptsSample(custom, {})) return undefined;
  if (bytesKind(schema)) return 'bytes';
  if (acceptsSample(custom, new File([], ''))) return 'File';
  if (acceptsSample(custom, new FormData())) return 'FormData';
  // A `Buffer`
  return parser && classOf(parser)?.prototype instanceof Uint8Array ? 'bytes' : undefined;
}

export const optionalOf = (schema: Schema): Schema => ({
  ...schema,
  [details]: { ...schema[details], isOptional: true },
});

/** Returns the zod schema that validates the values of a schema. */
export const parserOf = (schema: Schema): z.core.$ZodType | undefined =>
  schema[details]?.parser ?? schema[details]?.target?.[details]?.parser;
