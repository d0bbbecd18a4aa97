import * as z from 'zod';

// A schema of zod 3 is read as the one of zod 4 that describes the same values; it parses as itself. zod-to-json-schema, which is
// unmaintained, needs as many lines for what it leaves out, and brings zod 3 (80 kB) into bundles.

/** The parts of a schema of zod 3 that the gateway reads. */
export interface Zod3Schema {
  readonly _def: Definition;
}

/** The members of the definitions of all types, by name. */
interface Definition {
  readonly typeName: string;
  readonly description?: string;
  readonly checks?: readonly Check[];
  readonly innerType: Zod3Schema;
  readonly type: Zod3Schema;
  readonly schema: Zod3Schema;
  readonly in: Zod3Schema;
  readonly out: Zod3Schema;
  readonly left: Zod3Schema;
  readonly right: Zod3Schema;
  readonly keyType: Zod3Schema;
  readonly valueType: Zod3Schema;
  readonly rest: Zod3Schema | null;
  readonly catchall: Zod3Schema;
  readonly items: readonly Zod3Schema[];
  readonly options: readonly Zod3Schema[];
  readonly discriminator: string;
  readonly getter: () => Zod3Schema;
  readonly shape: () => Readonly<Record<string, Zod3Schema>>;
  readonly unknownKeys: 'passthrough' | 'strict' | 'strip';
  readonly effect: {
    readonly type: string;
    readonly transform: (value: unknown, context: object) => unknown;
  };
  readonly value: z.core.util.Literal;
  readonly values: never;
  readonly defaultValue: () => unknown;
  readonly catchValue: (context: unknown) => unknown;
  readonly coerce?: boolean;
  readonly minLength?: Bound | null;
  readonly maxLength?: Bound | null;
  readonly exactLength?: Bound | null;
}
interface Bound {
  readonly value: number;
}
interface Check extends Bound {
  readonly kind: string;
  readonly inclusive?: boolean;
  readonly regex: RegExp;
  readonly version?: 'v4' | 'v6';
}

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
function readString({ checks = [], coerce }: Definition): z.ZodType {
  let text = coerce ? z.coerce.string() : z.string();
  for (const { kind, regex, value, version } of checks) {
    const format = kind === 'ip' && version ? `ip${version}` : formats[kind];
    if (format !== undefined) text = text.meta({ ...text.meta(), format });
    else if (kind === 'min') text = text.min(value);
    else if (kind === 'max') text = text.max(value);
    else if (kind === 'length') text = text.length(value);
    else if (kind === 'regex') text = text.regex(regex);
    else if (kind === 'trim') text = text.trim();
    else if (kind === 'toLowerCase') text = text.toLowerCase();
    else if (kind === 'toUpperCase') text = text.toUpperCase();
  }
  return text;
}

function readNumber({ checks = [], coerce }: Definition): z.ZodType {
  let number = coerce ? z.coerce.number() : z.number();
  for (const { inclusive, kind, value } of checks) {
    if (kind === 'int') number = number.int();
    else if (kind === 'min') number = inclusive ? number.min(value) : number.gt(value);
    else if (kind === 'max') number = inclusive ? number.max(value) : number.lt(value);
    else if (kind === 'multipleOf') number = number.multipleOf(value);
  }
  return number;
}

type Read = (schema: Zod3Schema) => z.ZodType;

function readArray({ exactLength, maxLength, minLength, type }: Definition, read: Read): z.ZodType {
  let array = z.array(read(type));
  const [least, most] = [exactLength ?? minLength, exactLength ?? maxLength];
  if (least) array = array.min(least.value);
  if (most) array = array.max(most.value);
  return array;
}

function readObject({ catchall, shape, unknownKeys }: Definition, read: Read): z.ZodType {
  const properties = Object.fromEntries(Object.entries(shape()).map(([name, each]) => [name, read(each)]));
  if (catchall._def.typeName !== 'ZodNever') return z.object(properties).catchall(read(catchall));
  if (unknownKeys === 'passthrough') return z.looseObject(properties);
  return unknownKeys === 'strict' ? z.strictObject(properties) : z.object(properties);
}

function readEffects({ effect, schema }: Definition, read: Read): z.ZodType {
  if (effect.type === 'refinement') return read(schema);
  const context = { addIssue() {}, path: [] };
  // The result of a transform may be anything.
  return effect.type === 'preprocess'
    ? z.preprocess((value) => effect.transform(value, context), read(schema))
    : z.pipe(read(schema), z.any());
}

/** Readers by type. A type that is none of them has no JSON Schema. */
const readers: Readonly<Record<string, (definition: Definition, read: Read) => z.ZodType>> = {
  ZodAny: () => z.any(),
  ZodArray: readArray,
  ZodBigInt: () => z.bigint(),
  ZodBoolean: ({ coerce }) => (coerce ? z.coerce.boolean() : z.boolean()),
  ZodBranded: ({ type }, read) => read(type),
  ZodCatch: ({ catchValue, innerType }, read) =>
    read(innerType).catch((context: unknown) => catchValue(context)),
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
      const { description, typeName } = schema._def;
      result = readers[typeName]?.(schema._def, read) ?? z.custom();
      if (description !== undefined) result = result.meta({ ...result.meta(), description });
      known.set(schema, result);
    }
    return result;
  }
  return read(root);
}
