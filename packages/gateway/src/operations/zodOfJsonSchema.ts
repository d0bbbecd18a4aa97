import { z } from 'zod';
import { isObject } from '../http/isObject.ts';
import { typeKey, type JsonSchema, type NativeType } from './libraryJsonSchema.ts';
import { simplifySchema } from './simplifySchema.ts';

/**
 * Converts a JSON Schema to a zod schema with the same structure. The gateway uses it to convert parameters, to locate
 * properties and to write the document, which contains the JSON Schema itself. It is not used for validation: the
 * procedure's own schema validates.
 */
export function zodOfJsonSchema(root: JsonSchema): z.ZodType {
  const { $defs = {}, definitions = {}, $schema: _dialect, ...rest } = root;
  const named = { ...(definitions as object), ...($defs as object) } as Readonly<Record<string, unknown>>;
  const definedSchemas = new Map<string, z.ZodType>();
  const whole = toZod(rest);

  function toZod(json: unknown): z.ZodType {
    if (!isObject(json)) return json === false ? z.never() : z.unknown();
    const members = [json['anyOf'], json['oneOf']].find(Array.isArray) as readonly unknown[] | undefined;
    if (members?.some((member) => nativeType(member) === 'undefined')) {
      return z.optional(toZod(withoutUndefinedMembers(json)));
    }
    const structure = structureOf(json);
    return nativeType(json) === undefined ? withDocumentation(structure, json) : structure;
  }

  function structureOf(json: Readonly<Record<PropertyKey, unknown>>): z.ZodType {
    const native = nativeType(json);
    if (native !== undefined) return nativeSchemas[native]();
    if (typeof json['$ref'] === 'string') return referenced(json['$ref']);
    if ('const' in json) return literalSchema([json['const']]);
    if (Array.isArray(json['enum'])) return literalSchema(json['enum']);
    const { anyOf, oneOf, allOf, ...others } = json;
    const members = [anyOf, oneOf].find(Array.isArray) as readonly unknown[] | undefined;
    if (members) {
      const union = unionOf(members);
      return isObjectLike(others) ? z.intersection(structureOf(others), union) : union;
    }
    if (Array.isArray(allOf)) {
      const schemas = [...(isTyped(others) ? [structureOf(others)] : []), ...(allOf as unknown[]).map(toZod)];
      // Several checks of one string or number all have the same type, so the first is enough.
      const scalar = schemas.find(({ def }) => scalars.has(def.type));
      return scalar ?? schemas.reduce((left, right) => z.intersection(left, right));
    }
    if (Array.isArray(json['type'])) {
      return unionOf((json['type'] as unknown[]).map((type) => Object.assign({}, json, { type })));
    }
    return typed(json);
  }

  /** Creates a union; null members become `.nullable()`. */
  function unionOf(members: readonly unknown[]): z.ZodType {
    const others = members.filter((member) => !isObject(member) || !isNull(member));
    const [first, ...more] = others.map(toZod);
    if (first === undefined) return z.null();
    const union = more.length === 0 ? first : z.union([first, ...more]);
    return others.length < members.length ? z.nullable(union) : union;
  }

  function referenced(reference: string): z.ZodType {
    if (reference === '#') return z.lazy(() => whole);
    const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(reference)?.[1];
    if (name === undefined) return z.unknown();
    const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
    return z.lazy(() => {
      let schema = definedSchemas.get(key);
      if (schema === undefined) definedSchemas.set(key, (schema = toZod(named[key])));
      return schema;
    });
  }

  function typed(json: Readonly<Record<PropertyKey, unknown>>): z.ZodType {
    switch (json['type']) {
      case 'string':
        return z.string();
      case 'integer':
        return z.int();
      case 'number':
        return Number.isInteger(json['multipleOf']) ? z.int() : z.number();
      case 'boolean':
        return z.boolean();
      case 'null':
        return z.null();
      case 'array':
        return arrayOf(json);
      default:
        return isObjectLike(json) ? objectOf(json) : z.unknown();
    }
  }

  function arrayOf({ items, prefixItems }: Readonly<Record<PropertyKey, unknown>>): z.ZodType {
    const first = [prefixItems, items].find(Array.isArray) as readonly unknown[] | undefined;
    if (first === undefined) return z.array(toZod(items ?? {}));
    const tuple = z.tuple(first.map(toZod) as []);
    return items === false || Array.isArray(items) ? tuple : tuple.rest(toZod(items ?? {}));
  }

  function objectOf(json: Readonly<Record<PropertyKey, unknown>>): z.ZodType {
    const { additionalProperties: others, properties, required = [] } = json;
    if (!isObject(properties)) {
      return others === false ? z.strictObject({}) : z.record(z.string(), toZod(others ?? {}));
    }
    const shape = Object.entries(properties).map(([name, property]) => {
      const schema = toZod(property);
      return [name, (required as unknown[]).includes(name) ? schema : z.optional(schema)] as const;
    });
    const object = z.object(Object.fromEntries(shape));
    if (others === undefined) return object;
    return others === false ? object.strict() : object.catchall(toZod(others));
  }

  /**
   * Documents a schema with its JSON Schema. If that contains references, nested schemas are left to zod-openapi, which
   * resolves them.
   */
  function withDocumentation(structure: z.ZodType, json: Readonly<Record<PropertyKey, unknown>>): z.ZodType {
    const isWhole = !hasReference(json);
    const { description, deprecated } = json;
    return structure.meta({
      ...(typeof description === 'string' && { description }),
      ...(deprecated === true && { deprecated }),
      override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
        const documented = structuredClone(documentedJson(json)) as Record<string, unknown>;
        if (isWhole) {
          for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
          Object.assign(jsonSchema, documented);
          return;
        }
        if (documented['additionalProperties'] === undefined) delete jsonSchema['additionalProperties'];
        for (const key of nestedKeywords) delete documented[key];
        Object.assign(jsonSchema, documented);
      },
    });
  }

  return whole;
}

/** The keywords with nested schemas. */
const nestedKeywords = [
  '$ref',
  'additionalProperties',
  'allOf',
  'anyOf',
  'items',
  'oneOf',
  'patternProperties',
  'prefixItems',
  'properties',
  'propertyNames',
];

const scalars = new Set<string>(['string', 'number', 'boolean', 'literal']);

const nativeSchemas: Readonly<Record<NativeType, () => z.ZodType>> = {
  date: () => z.date(),
  bigint: () => z.bigint(),
  file: () => z.file(),
  undefined: () => z.void(),
};

/** The JSON Schemas of types that JSON does not have, for the document. */
const nativesInJson: Readonly<Record<NativeType, JsonSchema>> = {
  date: { type: 'string', format: 'date-time' },
  bigint: { type: 'integer', format: 'int64' },
  file: { type: 'string', format: 'binary' },
  undefined: { not: {} },
};

const nativeType = (json: unknown): NativeType | undefined =>
  isObject(json) ? (json[typeKey] as NativeType | undefined) : undefined;

const isNull = (json: Readonly<Record<PropertyKey, unknown>>) =>
  json['type'] === 'null' || ('const' in json && json['const'] === null);

const isObjectLike = (json: Readonly<Record<PropertyKey, unknown>>) =>
  json['type'] === 'object' || isObject(json['properties']) || isObject(json['additionalProperties']);

const isTyped = (json: Readonly<Record<PropertyKey, unknown>>) => 'type' in json || isObjectLike(json);

/** Removes `undefined` from the members of an `anyOf` or `oneOf`. */
function withoutUndefinedMembers(json: Readonly<Record<PropertyKey, unknown>>): JsonSchema {
  const { anyOf, oneOf, ...rest } = json;
  const members = ((anyOf ?? oneOf) as unknown[]).filter((member) => nativeType(member) !== 'undefined');
  if (members.length === 1 && isObject(members[0])) return { ...members[0], ...rest };
  return { ...rest, [anyOf === undefined ? 'oneOf' : 'anyOf']: members };
}

function literalSchema(values: readonly unknown[]): z.ZodType {
  const isScalar = (value: unknown): value is z.core.util.Literal =>
    value === null || typeof value !== 'object';
  if (!values.every(isScalar)) return z.unknown();
  const others = values.filter((value) => value !== null);
  if (others.length === 0) return z.null();
  return others.length < values.length ? z.nullable(z.literal(others)) : z.literal(others);
}

function hasReference(json: unknown): boolean {
  if (Array.isArray(json)) return json.some(hasReference);
  if (!isObject(json)) return false;
  return typeof json['$ref'] === 'string' || Object.values(json).some(hasReference);
}

/** Replaces native types (`typeKey`) by their JSON Schemas, and simplifies the schemas for client generators. */
function documentedJson(json: unknown): unknown {
  if (Array.isArray(json)) return (json as unknown[]).map(documentedJson);
  if (!isObject(json)) return json;
  const native = nativeType(json);
  if (native !== undefined) return nativesInJson[native];
  const members = [json['anyOf'], json['oneOf']].find(Array.isArray) as readonly unknown[] | undefined;
  if (members?.some((member) => nativeType(member) === 'undefined'))
    return documentedJson(withoutUndefinedMembers(json));
  const documented = Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key, documentedJson(value)]),
  );
  return simplifySchema(documented);
}
