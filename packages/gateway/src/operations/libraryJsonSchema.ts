import type {
  JsonSchemaConverters,
  StandardJsonSchema,
  StandardSchema,
} from '../procedures/standardSchema.ts';

/** A JSON Schema (draft 2020-12) from a library. `typeKey` marks types that JSON does not have. */
type JsonSchema = Readonly<Record<string, unknown>>;

/** The keyword of a type that JSON does not have. The gateway handles these types like the ones of zod. */
export const typeKey = 'x-gateway-type';
type NativeType = 'date' | 'bigint' | 'file' | 'undefined';

/** The JSON Schema that a library created, with problems. */
export interface LibraryJsonSchema {
  /** `undefined` if the library could not describe the schema at all. */
  readonly json: JsonSchema | undefined;
  /** A sentence for each part that the library cannot describe. */
  readonly problems: readonly string[];
}

const native = (type: NativeType): JsonSchema => ({ [typeKey]: type });

/**
 * Converts a schema to JSON Schema with its own library; `undefined` if the library cannot.
 * @param converters for libraries with schemas that do not describe themselves
 */
export function libraryJsonSchema(
  schema: StandardSchema,
  side: 'input' | 'output',
  converters: JsonSchemaConverters,
): LibraryJsonSchema | undefined {
  const { vendor } = schema['~standard'];
  const converter = hasJsonSchema(schema) ? schema : converters[vendor]?.(schema);
  if (converter === undefined) return undefined;
  const problems: string[] = [];
  const libraryOptions = libraries[vendor]?.((problem) => problems.push(problem));
  try {
    const { jsonSchema } = converter['~standard'];
    const json = jsonSchema[side]({
      target: 'draft-2020-12',
      ...(libraryOptions && { libraryOptions }),
    });
    return { json, problems: [...new Set(problems)] };
  } catch (error) {
    return { json: undefined, problems: [error instanceof Error ? error.message : String(error)] };
  }
}

const hasJsonSchema = (schema: StandardSchema): schema is StandardSchema & StandardJsonSchema =>
  'jsonSchema' in schema['~standard'];

/**
 * Options for the libraries, by vendor: they mark types that JSON does not have, and report parts that the library
 * cannot describe instead of throwing. They are plain objects; the libraries are not imported.
 */
const libraries: Readonly<
  Record<string, ((report: (problem: string) => void) => Record<string, unknown>) | undefined>
> = {
  // @valibot/to-json-schema 1.8
  valibot: (report) => ({
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema: { type }, errors = [] }: ValibotSchemaContext) => {
      if (errors.length === 0) return undefined;
      const knownType = valibotTypes[type];
      if (knownType) return knownType;
      for (const error of errors) report(error);
      return undefined;
    },
    // Checks that JSON Schema cannot express are omitted, as with zod.
    overrideAction: ({ valibotAction: { kind, type }, errors = [] }: ValibotActionContext) => {
      if (errors.length === 0 || kind !== 'transformation' || valibotUnchanged.has(type)) return undefined;
      const knownType = valibotTypes[type];
      if (knownType) return knownType;
      for (const error of errors) report(error);
      // The type before the transformation is not the type after it.
      return {};
    },
  }),
  // arktype 2.2
  arktype: (report) => ({
    fallback: (context: ArkTypeContext) => {
      const { base, code, domain, proto } = context;
      if (code === 'predicate' || code === 'patternIntersection') return base;
      if (code === 'defaultValue') return undefined;
      if (code === 'date' || proto === Date) return native('date');
      if (domain === 'bigint') return native('bigint');
      if (proto !== undefined && (proto === globalThis.File || proto === globalThis.Blob))
        return native('file');
      if (domain === 'undefined' || ('unit' in context && context.unit === undefined)) {
        return native('undefined');
      }
      report(`A schema of the kind "${code}" has no JSON Schema.`);
      return base;
    },
  }),
};

interface ValibotSchemaContext {
  readonly valibotSchema: { readonly type: string };
  readonly errors?: readonly string[];
}

interface ValibotActionContext {
  readonly valibotAction: { readonly kind: string; readonly type: string };
  readonly errors?: readonly string[];
}

interface ArkTypeContext {
  readonly code: string;
  readonly base: JsonSchema;
  readonly domain?: string;
  readonly proto?: unknown;
  readonly unit?: unknown;
}

const valibotTypes: Readonly<Record<string, JsonSchema | undefined>> = {
  date: native('date'),
  to_date: native('date'),
  bigint: native('bigint'),
  to_bigint: native('bigint'),
  file: native('file'),
  blob: native('file'),
  undefined: native('undefined'),
  void: native('undefined'),
  to_number: { type: 'number' },
  to_string: { type: 'string' },
  to_boolean: { type: 'boolean' },
};

/** Transformations that keep the type of a value. */
const valibotUnchanged = new Set([
  'brand',
  'flavor',
  'readonly',
  'trim',
  'trim_start',
  'trim_end',
  'to_lower_case',
  'to_upper_case',
  'normalize',
  'to_min_value',
  'to_max_value',
  'filter_items',
  'sort_items',
]);
