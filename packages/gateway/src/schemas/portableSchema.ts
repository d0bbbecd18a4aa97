import { isObject } from '../http/isObject.ts';
import { annotations, isNever, mapSchemas, type Schema } from './schema.ts';
import type { JsonSchema } from './toolSchema.ts';

/** The formats of texts that OpenAI accepts with `strict`. Others are in the description. */
const portableFormats = /^(?:date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid)$/;

/**
 * For the APIs of Anthropic, OpenAI and Gemini, also from clients that leave out keywords Gemini does not know.
 * Accepts at least as much, and descriptions say the rest. Rules: `providerProblems.ts` of packages/testing.
 */
export function portableSchema({ $defs, ...root }: JsonSchema): JsonSchema {
  const definitions = { ...($defs as Readonly<Record<string, JsonSchema>> | undefined) };
  let name = 'any';
  while (Object.hasOwn(definitions, name)) name += '_';
  const any = { $ref: `#/$defs/${name}` };

  const write = (schema: object): JsonSchema =>
    writeNode(
      mapSchemas(schema, (nested, keyword) => (keyword === 'not' ? nested : write(nested))) as JsonSchema,
    );

  /** Writes a schema whose nested schemas are written. */
  function writeNode({ oneOf, ...schema }: JsonSchema): JsonSchema {
    if (oneOf) return writeNode({ ...schema, anyOf: oneOf });
    const { allOf, anyOf, description, format, properties, type } = schema;
    if ('const' in schema || 'enum' in schema) return writeConstants(schema);
    if (Array.isArray(type)) return writeTypes(schema);
    if (typeof format === 'string' && !portableFormats.test(format)) {
      const { format: _format, ...others } = schema;
      const said = type === 'string' ? join(description, `Format: ${format}.`) : description;
      return writeNode({ ...others, ...(said !== undefined && { description: said }) });
    }
    if (anyOf) return writeUnion(schema, any);
    if (type === 'array') return { ...schema, ...itemsOf(schema, any) };
    if (type === 'object' || properties) return { type: 'object', ...schema, ...propertiesOf(schema) };
    if (allOf) return writeIntersection(schema);
    const isAny = Object.keys(schema).every((keyword) => annotations.has(keyword));
    return isAny ? describe(any, schema) : schema;
  }

  /** Gemini accepts enumerations of texts alone, and no empty one. A client may write a constant as an enumeration. */
  function writeConstants({ const: only, enum: all = [only], ...schema }: JsonSchema): JsonSchema {
    const values = all as readonly unknown[];
    const texts = values.filter((value) => typeof value === 'string' && value !== '');
    const others = Map.groupBy(
      values.filter((value) => typeof value !== 'string'),
      (value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value),
    );
    const members = [
      ...(texts.length > 0 ? [{ type: 'string', enum: texts }] : []),
      ...(values.includes('') ? [{ type: 'string', maxLength: 0 }] : []),
      ...Array.from(others, ([type, each]) =>
        type === 'null' ? { type } : writeNode({ type, description: valuesText(each) }),
      ),
    ];
    const { type: _type, ...beside } = schema;
    return writeUnion({ ...beside, anyOf: members }, any);
  }

  function writeTypes({ type: types, ...schema }: JsonSchema): JsonSchema {
    const keywords = Map.groupBy(Object.entries(schema), ([keyword]) => annotations.has(keyword));
    const own = Object.fromEntries(keywords.get(false) ?? []);
    const members = (types as readonly string[]).map((type) =>
      type === 'null' ? { type } : writeNode({ ...own, type }),
    );
    return writeUnion({ ...Object.fromEntries(keywords.get(true) ?? []), anyOf: members }, any);
  }

  /** Parts without a type, such as the patterns of a text, get that of the whole. If types differ, only the first part is left. */
  function writeIntersection({ allOf, ...schema }: JsonSchema): JsonSchema {
    const parts = (allOf as readonly JsonSchema[]).filter(({ $ref }) => $ref !== any.$ref);
    const members = [schema, ...parts.flatMap((part) => membersOf(part) ?? part)];
    const typed = members.filter((member) => 'type' in member || '$ref' in member);
    const [type, ...others] = new Set(
      typed.map(({ $ref, type: own }) => own ?? definitions[String($ref).replace('#/$defs/', '')]?.['type']),
    );
    if (typeof type === 'string' && others.length === 0)
      return {
        type,
        ...(type === 'array' && { items: any }),
        ...schema,
        allOf: parts.map((part) => withType(part, type)),
      };
    const more = 'More rules apply; the error of a call says which.';
    let first = describe(parts.length > 1 ? open(parts[0] ?? any) : (parts[0] ?? any), schema);
    if (parts.length > 1) first = { ...first, description: join(first['description'], more) };
    return membersOf(first) ? writeUnion(first, any) : first;
  }

  const whole = write(root);
  for (const [key, schema] of Object.entries(definitions)) definitions[key] = write(schema);
  if (JSON.stringify([whole, definitions]).includes(JSON.stringify(any.$ref)))
    definitions[name] = anyJson(any);
  return Object.keys(definitions).length > 0 ? { ...whole, $defs: definitions } : whole;
}

const membersOf = ({ anyOf }: JsonSchema) => anyOf as readonly JsonSchema[] | undefined;

/** Without `additionalProperties`: the other parts of an intersection may have more. */
function open({ additionalProperties: _others, ...schema }: JsonSchema): JsonSchema {
  const members = membersOf(schema);
  return members ? { ...schema, anyOf: members.map(open) } : schema;
}

function withType(schema: JsonSchema, type: string): JsonSchema {
  const members = membersOf(schema);
  if (members) return { ...schema, anyOf: members.map((member) => withType(member, type)) };
  return '$ref' in schema ? schema : { type, ...schema };
}

/** Gemini on Vertex AI accepts nothing beside `anyOf`: members get the description and the default. */
function writeUnion({ anyOf, ...beside }: JsonSchema, any: JsonSchema): JsonSchema {
  const members = (anyOf as readonly JsonSchema[])
    .flatMap((member) => (Object.keys(member).join() === 'anyOf' ? (membersOf(member) ?? []) : member))
    .filter((member) => !isNever(member as Schema));
  const [first = any, ...others] = members;
  if (members.length > 0 && Object.keys(beside).some((keyword) => !annotations.has(keyword)))
    return { ...beside, anyOf: members };
  if (others.length === 0) return describe(first, beside);
  const { default: value, ...said } = beside;
  const described = [describe(first, said), ...others];
  const preset = described.find((each) => mayAccept(each, value)) ?? described.find((each) => '$ref' in each);
  if (preset === undefined || value === undefined) return { anyOf: described };
  return { anyOf: described.with(described.indexOf(preset), { ...preset, default: value }) };
}

/** Whether a member of a union has the type of a value, and its enumeration has the value. */
function mayAccept({ enum: values, type }: JsonSchema, value: unknown): boolean {
  if (values) return (values as readonly unknown[]).includes(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
}

/** Adds annotations to a schema. Gemini accepts only these two beside a reference. */
function describe(schema: JsonSchema, { description, ...others }: JsonSchema): JsonSchema {
  const said = join(description, schema['description']);
  const { default: value } = others;
  return {
    ...('$ref' in schema ? 'default' in others && { default: value } : others),
    ...schema,
    ...(said !== undefined && { description: said }),
  };
}

function join(...texts: readonly [unknown, unknown]): string | undefined {
  const [first, ...others] = texts.filter((text) => typeof text === 'string' && text !== '');
  return [first, ...others].join(/[.:!?]\s*$/.test(String(first)) ? ' ' : '. ') || undefined;
}

const valuesText = (values: readonly unknown[]): string => {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? `Must be ${texts[0]}.` : `One of ${texts.join(', ')}.`;
};

/** OpenAI and Gemini require `items`, also of a tuple. There they have no effect: its elements are known, and it has no more. */
function itemsOf({ items, maxItems, prefixItems = [] }: JsonSchema, any: JsonSchema): JsonSchema {
  if (items === undefined || items === true) return { items: any };
  if (isObject(items) && !isNever(items)) return { items };
  const elements = prefixItems as readonly JsonSchema[];
  const distinct = [...new Map(elements.map((each) => [JSON.stringify(each), each])).values()];
  return {
    items: distinct.length > 0 ? writeUnion({ anyOf: distinct }, any) : any,
    maxItems: maxItems ?? elements.length,
  };
}

/** Gemini requires the schema of each required property, and a type of each. One that must be absent has none. */
function propertiesOf({ additionalProperties, properties, required = [] }: Schema): JsonSchema {
  const hasOthers = isObject(additionalProperties) && !isNever(additionalProperties);
  const others = hasOthers ? required.map((name) => [name, additionalProperties] as const) : [];
  const all = Object.entries({ ...Object.fromEntries(others), ...properties });
  const sent = Object.fromEntries(all.filter(([, schema]) => !isNever(schema)));
  return {
    ...(all.length > 0 && { properties: sent }),
    ...(required.length > 0 && { required: required.filter((name) => Object.hasOwn(sent, name)) }),
    ...(isObject(additionalProperties) && !hasOthers && { additionalProperties: false }),
  };
}

/** Any JSON: a schema without a type is rejected by Gemini, and by clients of OpenAI. */
const anyJson = (any: JsonSchema): JsonSchema => ({
  anyOf: [
    ...['string', 'number', 'boolean', 'null', 'object'].map((type) => ({ type })),
    { type: 'array', items: any },
  ],
});
