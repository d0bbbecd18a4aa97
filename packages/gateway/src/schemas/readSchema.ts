import { octetInputParser } from '@trpc/server/http';
import * as z from 'zod';
import { isObject } from '../http/isObject.ts';
import { formatValue } from '../http/formatValue.ts';
import { reject } from '../checks/gatewayError.ts';
import { isStandardSchema, type StandardSchema } from './standardSchema.ts';
import {
  definitionOf,
  internalsOf,
  isPreprocess,
  isZod,
  isZod3,
  metadataOf,
  partsOf,
  type ZodDefinition,
  type ZodSchema,
} from './zodSchema.ts';
import { canBeUndefined, correctKeywords, hasPromise, isDiscriminated } from './exactKeywords.ts';
import { InferredOutput } from './inferredOutput.ts';
import { asZod4, type Zod3Schema } from './zod3.ts';
import {
  acceptsSample,
  details,
  isNever,
  mapSchemas,
  optionalOf,
  schemasIn,
  type Details,
  type Schema,
} from './schema.ts';

type Json = Record<PropertyKey, unknown>;

/**
 * `undefined` for a parser without a description, such as a function. `what` is for messages.
 * @throws {GatewayError} for an input that its library cannot describe as JSON Schema; such outputs are left out
 */
export type ReadSchema = (parser: unknown, side: 'input' | 'output', what: string) => Schema | undefined;

/** @param warn receives a sentence for each output that its library cannot describe */
export function createReadSchema(warn: (sentence: string) => void): ReadSchema {
  function leaveOut(side: 'input' | 'output', sentence: string): undefined {
    if (side === 'input') reject(sentence);
    warn(`${sentence}.`);
  }
  return (parser, side, what) => {
    if (isZod(parser)) {
      requireZod(parser, what);
      return readZod(parser, side);
    }
    if (parser instanceof InferredOutput) return readInferred(parser);
    if (parser === octetInputParser) return readZod(z.instanceof(ReadableStream), side);
    if (isZod3(parser)) return readZod(asZod4(parser as Zod3Schema), side);
    if (!isStandardSchema(parser)) return undefined;
    const { jsonSchema, vendor } = parser['~standard'];
    try {
      if (jsonSchema === undefined) throw new Error('it has no ~standard.jsonSchema');
      const { $defs, $schema: _dialect, ...root } = jsonSchema[side]({ target: 'draft-2020-12' });
      const schema = readJson(root, $defs as Json);
      return acceptsNothing(parser, side) ? optionalOf(schema) : schema;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const sentence = `its ${what} is a schema of ${vendor} without a JSON Schema (${reason}); use types that JSON Schema can express, and for Valibot toStandardJsonSchema(schema) of @valibot/to-json-schema`;
      return leaveOut(side, sentence);
    }
  };
}

/** A part of a zod schema, and where it is. */
interface Part {
  readonly schema: unknown;
  /** The properties that lead to it. */
  readonly path: readonly string[];
  /** The part of the value at the path that the schema describes, such as `a member of the union `. Empty for all of it. */
  readonly role: string;
}

/**
 * Checks that all parts are of zod 4, whose `TypeError` does not say where others are. A default must be no promise:
 * zod reads it for the document and handles no rejection, which would end the process.
 * @throws {GatewayError}
 */
function requireZod(root: z.core.$ZodType, what: string): void {
  const reasons = new Set<string>();
  const seen = new Set<unknown>();
  const check = ({ schema, path, role }: Part): void => {
    if (isZod(schema)) {
      if (seen.has(schema)) return;
      seen.add(schema);
      if (hasPromise(schema)) {
        reasons.add(
          `in its ${what}, the default of ${nameOf(path)} is a promise, which zod does not wait for; return the value itself, or compute it in the procedure`,
        );
      }
      const { type } = definitionOf(schema);
      const partRole = type === 'union' ? 'a member of the union ' : 'a part of ';
      for (const { part, name } of partsOf(schema)) {
        const isValue = name !== undefined || type === 'lazy';
        check({
          schema: part,
          path: name === undefined ? path : [...path, name],
          role: isValue ? '' : partRole,
        });
      }
      return;
    }
    const problem = isZod3(schema)
      ? "a schema of zod 3 in one of zod 4; import both from 'zod/v4' of zod 3.25, or from 'zod' of zod 4"
      : `${formatValue(schema)}, not a schema of zod 4; check its import, or write a getter if two modules import each other`;
    reasons.add(`in its ${what}, ${role}${nameOf(path)} is ${problem}`);
  };
  check({ schema: root, path: [], role: '' });
  if (reasons.size > 0) reject([...reasons].join('\n'));
}

const nameOf = (path: readonly string[]): string => (path.length > 0 ? `"${path.join('.')}"` : 'its value');

/** Whether a parser accepts (or returns) `undefined`: JSON Schema cannot express that for a whole value. */
function acceptsNothing(parser: StandardSchema, side: 'input' | 'output'): boolean {
  let result: ReturnType<(typeof parser)['~standard']['validate']>;
  try {
    result = parser['~standard'].validate(undefined);
  } catch {
    return false;
  }
  if (result instanceof Promise) {
    result.catch(() => undefined);
    return false;
  }
  return result.issues === undefined && (side === 'input' || result.value === undefined);
}

/** The keyword that holds the index of the details of a schema while zod copies it. */
const indexKey = 'x-gateway-details';

/** The JSON Schemas of types that JSON does not have. */
const jsonOfType: Readonly<Record<string, Json>> = {
  date: { type: 'string', format: 'date-time' },
  bigint: { type: 'integer', format: 'int64' },
  custom: {},
  /** `z.instanceof(File)`. zod describes its own `z.file()`. */
  file: { type: 'string', format: 'binary' },
  function: {},
  map: {},
  nan: {},
  set: {},
  symbol: {},
  transform: {},
  undefined: { not: {} },
  void: { not: {} },
};

/** Members of metadata that are for other readers than those of the document. */
const otherMetadata = ['header', 'id', 'outputId', 'override', 'param', 'typescript', 'unusedIO'];

/** zod's own JSON Schema, with details of each part. @throws {GatewayError} if two parts have one id */
export function readZod(parser: ZodSchema, side: 'input' | 'output'): Schema {
  try {
    return describeZod(parser, side);
  } catch (error) {
    const [, id] = /^Duplicate schema id "(.*)" detected/.exec((error as Error).message) ?? [];
    if (id === undefined) throw error;
    return reject(
      `two schemas in it have the id "${id}"; give one of them another id in its .meta({ id: … })`,
    );
  }
}

function describeZod(parser: ZodSchema, side: 'input' | 'output'): Schema {
  const all: Details[] = [];
  // In an object, since zod writes references to the whole as `#`, and drops members of the whole that are not JSON.
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ whole: parser as z.ZodType }), {
    io: side,
    // It reads nothing else of it.
    metadata: { get: metadataOf } as unknown as z.core.$ZodRegistry<Record<string, unknown>>,
    unrepresentable: 'any',
    override(context) {
      const jsonSchema: Json = context.jsonSchema;
      writeOtherType(context.zodSchema, jsonSchema);
      correctKeywords(context.zodSchema, jsonSchema, side);
      const own = zodDetails(context.zodSchema, jsonSchema, side);
      // As a symbol, so that the schema of a wrapper inherits it and zod merges intersections and unions as without it.
      jsonSchema[details] = own;
      // zod returns a copy by way of JSON, which has no symbols.
      const index = all.push(own) - 1;
      Object.defineProperty(jsonSchema, 'toJSON', { value: () => ({ ...jsonSchema, [indexKey]: index }) });
      const { override } = jsonSchema;
      if (typeof override === 'function') override({ ...context, io: side });
      else if (isObject(override)) Object.assign(jsonSchema, override);
      for (const name of otherMetadata) delete jsonSchema[name];
    },
  });
  return readJson(properties?.['whole'] as Json, $defs, all);
}

/** Writes a type that JSON does not have. Schemas of zod 4.2 to 4.4 write themselves and skip `unrepresentable`. */
function writeOtherType(schema: ZodSchema, json: Json): void {
  const def = definitionOf(schema);
  const other = def.type === 'file' ? undefined : jsonOfType[def.type];
  if (other === undefined) return;
  const custom = def.type === 'custom' ? def : undefined;
  const isFile = custom && acceptsSample(custom, new File([], '')) && !acceptsSample(custom, {});
  // Before its metadata, which may replace it.
  const metadata = { ...json };
  for (const name of Object.keys(metadata)) delete json[name];
  Object.assign(json, isFile ? jsonOfType['file'] : other, metadata);
  json[details] = { type: def.type, ...(custom && { custom }) } satisfies Details;
}

function zodDetails(schema: z.core.$ZodType, json: Json, side: 'input' | 'output'): Details {
  const def = definitionOf(schema);
  const inherited = json[details] as Details | undefined;
  // Removed with the other indexes. Until then it keeps zod from merging the schema into a list of types.
  if (side === 'input' && isPreprocess(def)) json[indexKey] = -1;
  // Otherwise zod merges the parts of an intersection, and leaves out that one of them keeps unknown properties.
  if (def.type === 'intersection' && isLoose(def)) json['additionalProperties'] = {};
  // OpenAPI 3.1 §4.8.14.4: raw binary data has no contentEncoding. With one, the client that orval 8 generates sends text.
  if (def.type === 'file') delete json['contentEncoding'];
  return {
    ...inherited,
    ...(def.type === 'file' && { type: 'file' }),
    // The schema describes only the result of a preprocessed value.
    ...(side === 'input' && isPreprocess(def) && { type: 'pipe' }),
    ...(def.type === 'literal' && { values: def.values }),
    ...(def.type === 'union' && { discriminator: discriminatorOf(def) }),
    mergesLoose: def.type === 'intersection' && isLoose(def, true),
    isOptional: canBeUndefined(schema, side),
    isDescribed: 'override' in json || (inherited?.isDescribed ?? false),
    parser: schema,
  };
}

/** Whether an object, or a part of an intersection, keeps unknown properties; with `inUnions` also a member of a union. */
function isLoose(def: ZodDefinition, inUnions = false): boolean {
  if (def.type === 'object') return def.catchall !== undefined && definitionOf(def.catchall).type !== 'never';
  const members = def.type === 'union' && inUnions ? def.options : [];
  const parts = def.type === 'intersection' ? [def.left, def.right] : members;
  return parts.some((part) => isLoose(definitionOf(part), inUnions));
}

function discriminatorOf(def: z.core.$ZodUnionDef): Details['discriminator'] {
  if (!isDiscriminated(def)) return undefined;
  const { discriminator: propertyName } = def;
  const values = def.options.map((option) =>
    Array.from(internalsOf(option).propValues?.[propertyName] ?? [], String),
  );
  return { propertyName, values };
}

/** Yields the ids of schemas and of the schemas in them (`.meta({ id })`), with the schemas of zod that have them. */
export function* idsIn(
  schemas: readonly (Schema | undefined)[],
): Generator<readonly [id: string, parser: z.core.$ZodType]> {
  const seen = new Set<Schema>();
  for (const schema of schemas) {
    if (schema === undefined) continue;
    for (const [{ [details]: { parser } = {} }] of schemasIn(schema, [], seen)) {
      if (parser === undefined) continue;
      const { id } = metadataOf(parser);
      if (id !== undefined) yield [id, parser];
    }
  }
}

function readInferred({ definitions, json }: InferredOutput): Schema {
  const schema = readJson({ ...json, 'x-inferred': true }, definitions, [], true);
  // JSON Schema has no `undefined`: `{ not: {} }` is the schema of nothing.
  if (isNever(schema)) return { ...schema, [details]: { type: 'void' } };
  const { anyOf = [], ...marks } = schema;
  const [only = {}, ...others] = anyOf.filter((member) => !isNever(member));
  if (!anyOf.some(isNever)) return schema;
  return optionalOf(
    others.length > 0
      ? { ...marks, anyOf: [only, ...others] }
      : { ...only, ...marks, [details]: only[details] ?? {} },
  );
}

/**
 * Adds the target of each reference, and which properties may be absent.
 * @param all the details of zod schemas by index (`indexKey`)
 * @param isInferred whether names of definitions are those of types, as in the document
 */
export function readJson(
  root: Json,
  definitions: Readonly<Record<string, unknown>> = {},
  all: readonly Details[] = [],
  isInferred = false,
): Schema {
  const targets = new Map<string, Schema>();
  const whole: Schema = {};

  function read(json: unknown): Schema {
    if (!isObject(json)) return json === false ? { not: {} } : {};
    const { [indexKey]: index, ...keywords } = json;
    const { $ref, required = [] } = keywords;
    const schema = mapSchemas(keywords, (nested, keyword, name) => {
      const property = read(nested);
      if (keyword !== 'properties') return property;
      // `z.any()` accepts `undefined`, but not an absent property.
      const isOptional = !(required as readonly string[]).includes(name);
      return { ...property, [details]: { ...property[details], isOptional } };
    });
    const own = all[index as number];
    if (typeof $ref === 'string') return { ...schema, [details]: { ...own, target: targetOf($ref) } };
    return own ? { ...schema, [details]: own } : schema;
  }

  function targetOf(reference: string): Schema {
    if (reference === '#') return whole;
    const name = decodeURIComponent(reference.replace('#/$defs/', ''))
      .replaceAll('~1', '/')
      .replaceAll('~0', '~');
    let target = targets.get(name);
    if (target === undefined) {
      // Known before it is read, since it may contain itself.
      targets.set(name, (target = {}));
      Object.assign(target, read(definitions[name]));
      if (isInferred) Object.assign(target, { [details]: { ...target[details], typeName: name } });
    }
    return target;
  }

  return Object.assign(whole, read(root));
}
