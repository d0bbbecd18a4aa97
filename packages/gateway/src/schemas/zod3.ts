import * as z from 'zod';
import type * as z3 from 'zod/v3';

// A schema of zod 3 is read as the one of zod 4 that describes the same values; it parses as itself. zod-to-json-schema, which is
// unmaintained, needs as many lines for what it leaves out, and brings zod 3 (80 kB) into bundles.

export type Zod3Schema = z3.ZodTypeAny;

/** The definitions of the types of zod 3, by their names. */
type Definitions = { [Each in z3.ZodFirstPartySchemaTypes as `${Each['_def']['typeName']}`]: Each['_def'] };

/** Formats of JSON Schema by the check of zod 3. Its patterns are left out: zod 4 has others. */
const formats: Readonly<Record<string, string>> = {
  date: 'date',
  datetime: 'date-time',
  duration: 'duration',
  email: 'email',
  time: 'time',
  url: 'uri',
  uuid: 'uuid',
};

/** Adds the checks that have a keyword in JSON Schema, or change the value. */
function readString({ checks, coerce }: Definitions['ZodString']): z.ZodType {
  let text = coerce ? z.coerce.string() : z.string();
  for (const check of checks) {
    const { kind } = check;
    const format = kind === 'ip' && check.version ? `ip${check.version}` : formats[kind];
    if (format !== undefined) text = text.meta({ ...text.meta(), format });
    else if (kind === 'min') text = text.min(check.value);
    else if (kind === 'max') text = text.max(check.value);
    else if (kind === 'length') text = text.length(check.value);
    else if (kind === 'regex') text = text.regex(check.regex);
    else if (kind === 'trim') text = text.trim();
    else if (kind === 'toLowerCase') text = text.toLowerCase();
    else if (kind === 'toUpperCase') text = text.toUpperCase();
  }
  return text;
}

function readNumber({ checks, coerce }: Definitions['ZodNumber']): z.ZodType {
  let number = coerce ? z.coerce.number() : z.number();
  for (const check of checks) {
    const { kind } = check;
    if (kind === 'int') number = number.int();
    else if (kind === 'min') number = check.inclusive ? number.min(check.value) : number.gt(check.value);
    else if (kind === 'max') number = check.inclusive ? number.max(check.value) : number.lt(check.value);
    else if (kind === 'multipleOf') number = number.multipleOf(check.value);
  }
  return number;
}

type Read = (schema: Zod3Schema) => z.ZodType;

function readArray(
  { exactLength, maxLength, minLength, type }: Definitions['ZodArray'],
  read: Read,
): z.ZodType {
  let array = z.array(read(type));
  const [least, most] = [exactLength ?? minLength, exactLength ?? maxLength];
  if (least) array = array.min(least.value);
  if (most) array = array.max(most.value);
  return array;
}

function readObject({ catchall, shape, unknownKeys }: Definitions['ZodObject'], read: Read): z.ZodType {
  const parts = Object.entries(shape() as Readonly<Record<string, Zod3Schema>>);
  const properties = Object.fromEntries(parts.map(([name, each]) => [name, read(each)]));
  if (catchall._def.typeName !== 'ZodNever') return z.object(properties).catchall(read(catchall));
  if (unknownKeys === 'passthrough') return z.looseObject(properties);
  return unknownKeys === 'strict' ? z.strictObject(properties) : z.object(properties);
}

function readEffects({ effect, schema }: Definitions['ZodEffects'], read: Read): z.ZodType {
  if (effect.type === 'refinement') return read(schema);
  const context: z3.RefinementCtx = { addIssue() {}, path: [] };
  // The result of a transform may be anything.
  return effect.type === 'preprocess'
    ? z.preprocess((value) => effect.transform(value, context), read(schema))
    : z.pipe(read(schema), z.any());
}

/** Readers by type. A type that is none of them has no JSON Schema. */
const readers: {
  readonly [Name in keyof Definitions]?: (definition: Definitions[Name], read: Read) => z.ZodType;
} = {
  ZodAny: () => z.any(),
  ZodArray: readArray,
  ZodBigInt: () => z.bigint(),
  ZodBoolean: ({ coerce }) => (coerce ? z.coerce.boolean() : z.boolean()),
  ZodBranded: ({ type }, read) => read(type),
  ZodCatch: ({ catchValue, innerType }, read) =>
    read(innerType).catch((context: unknown) => catchValue(context as never)),
  ZodDate: ({ coerce }) => (coerce ? z.coerce.date() : z.date()),
  ZodDefault: ({ defaultValue, innerType }, read) => read(innerType).default(defaultValue),
  ZodDiscriminatedUnion: ({ discriminator, options }, read) =>
    z.discriminatedUnion(discriminator, [...options].map(read) as unknown as [z.ZodObject]),
  ZodEffects: readEffects,
  ZodEnum: ({ values }) => z.enum(values),
  ZodIntersection: ({ left, right }, read) => z.intersection(read(left), read(right)),
  ZodLazy: ({ getter }, read) => z.lazy(() => read(getter())),
  ZodLiteral: ({ value }) => z.literal(value),
  ZodMap: ({ keyType, valueType }, read) => z.map(read(keyType), read(valueType)),
  ZodNaN: () => z.nan(),
  ZodNativeEnum: ({ values }) => z.enum(values),
  ZodNever: () => z.never(),
  ZodNull: () => z.null(),
  ZodNullable: ({ innerType }, read) => read(innerType).nullable(),
  ZodNumber: readNumber,
  ZodObject: readObject,
  ZodOptional: ({ innerType }, read) => read(innerType).optional(),
  ZodPipeline: ({ in: from, out }, read) => z.pipe(read(from), read(out)),
  ZodPromise: ({ type }, read) => z.promise(read(type)),
  ZodReadonly: ({ innerType }, read) => read(innerType).readonly(),
  ZodRecord: ({ keyType, valueType }, read) =>
    z.record(read(keyType) as z.ZodType<string, string>, read(valueType)),
  ZodSet: ({ valueType }, read) => z.set(read(valueType)),
  ZodString: readString,
  ZodTuple: ({ items, rest }, read) => {
    const parts = items.map(read) as [z.ZodType];
    return rest ? z.tuple(parts, read(rest)) : z.tuple(parts);
  },
  ZodUndefined: () => z.undefined(),
  ZodUnion: ({ options }, read) => z.union(options.map(read)),
  ZodUnknown: () => z.unknown(),
  ZodVoid: () => z.void(),
};

/** Returns the schema of zod 4 that describes what a schema of zod 3 accepts and returns. */
export function asZod4(root: Zod3Schema): z.ZodType {
  const known = new Map<Zod3Schema, z.ZodType>();
  function read(schema: Zod3Schema): z.ZodType {
    let result = known.get(schema);
    if (result === undefined) {
      const { description, typeName } = schema._def as { description?: string; typeName: keyof Definitions };
      const convert = readers[typeName] as ((definition: unknown, read: Read) => z.ZodType) | undefined;
      result = convert?.(schema._def, read) ?? z.custom();
      if (description !== undefined) result = result.meta({ ...result.meta(), description });
      known.set(schema, result);
    }
    return result;
  }
  return read(root);
}
