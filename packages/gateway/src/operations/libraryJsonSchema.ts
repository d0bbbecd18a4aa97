import type {
  JsonSchemaConverters,
  StandardJsonSchema,
  StandardSchema,
} from '../procedures/standardSchema.ts';

/** A JSON Schema (draft 2020-12) from a library. `typeKey` marks types that JSON does not have. */
type JsonSchema = Readonly<Record<string, unknown>>;

/** The keyword of a type that JSON does not have. The gateway handles these types like the ones of zod. */
export const typeKey = 'x-gateway-type';

const native = (type: 'date' | 'bigint' | 'file' | 'undefined'): JsonSchema => ({ [typeKey]: type });

/** Returns the end of an error message: why a schema of another library cannot be read, and the fix. */
export const noJsonSchema = (vendor: string): string =>
  `which provides no JSON Schema; pass createGateway a converter of that library, jsonSchema: { ${vendor}: … }`;

/**
 * Converts a schema to JSON Schema with its own library; `undefined` if the library cannot.
 * @param what is converted, for warnings
 * @param converters for libraries with schemas that do not describe themselves
 * @param warn receives a sentence for what the library cannot describe
 */
export function libraryJsonSchema(
  schema: StandardSchema,
  side: 'input' | 'output',
  what: string,
  converters: JsonSchemaConverters,
  warn: (sentence: string) => void,
): JsonSchema | undefined {
  const { vendor } = schema['~standard'];
  const converter = hasJsonSchema(schema) ? schema : converters[vendor]?.(schema);
  if (converter === undefined) {
    if (side === 'output') warn(`its ${what} is a schema of ${vendor}, ${noJsonSchema(vendor)}.`);
    return undefined;
  }
  const problems = new Set<string>();
  const libraryOptions = libraries[vendor]?.((problem) => problems.add(problem));
  let json: JsonSchema | undefined;
  try {
    json = converter['~standard'].jsonSchema[side]({
      target: 'draft-2020-12',
      ...(libraryOptions && { libraryOptions }),
    });
  } catch (error) {
    problems.clear();
    problems.add(error instanceof Error ? error.message : String(error));
  }
  if (problems.size > 0) {
    warn(
      `${vendor} cannot describe all of its ${what} as JSON Schema, so the document is incomplete: ${[...problems].join(' ')}`,
    );
  }
  return json;
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
  valibot(report) {
    const describe = ({ type }: ValibotItem, errors: readonly string[], other: JsonSchema | undefined) => {
      const known = valibotTypes[type];
      if (known === undefined) for (const error of errors) report(error);
      return known ?? other;
    };
    return {
      errorMode: 'ignore',
      overrideSchema: ({ valibotSchema, errors = [] }: ValibotContext<'valibotSchema'>) =>
        errors.length === 0 ? undefined : describe(valibotSchema, errors, undefined),
      // Checks that JSON Schema cannot express are omitted, as with zod.
      overrideAction: ({ valibotAction, errors = [] }: ValibotContext<'valibotAction'>) => {
        const { kind, type } = valibotAction;
        if (errors.length === 0 || kind !== 'transformation' || valibotUnchanged.test(type)) return undefined;
        // The type before the transformation is not the type after it.
        return describe(valibotAction, errors, {});
      },
    };
  },
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

interface ValibotItem {
  readonly kind: string;
  readonly type: string;
}

type ValibotContext<Name extends string> = Readonly<Record<Name, ValibotItem>> & {
  readonly errors?: readonly string[];
};

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
const valibotUnchanged =
  /^(?:brand|flavor|readonly|trim(?:_start|_end)?|to_(?:lower|upper)_case|normalize|to_(?:min|max)_value|(?:filter|sort)_items)$/;
