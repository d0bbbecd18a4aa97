import { regexes } from 'zod/v4/core';
import { isObject } from '../http/isObject.ts';
import { metadataOf } from './zodSchema.ts';
import { details, mapSchemas, maxDepth, type Schema } from './schema.ts';

/** A JSON Schema (draft 2020-12) as clients receive it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Models read it with each request: omits what says nothing, and puts what repeats in `$defs`. */
export function writeJsonSchema(root: Schema): JsonSchema {
  const uses = countUses(root);
  const names = new Map<Schema, string>();
  const definitions: Record<string, object> = {};

  function write(schema: Schema): object {
    const { [details]: own, ...written } = mapSchemas(withoutNoise(schema), write) as Schema & JsonSchema;
    if (own?.target === undefined) return written;
    // The API of Gemini allows no other keywords beside a reference.
    const { description, default: value } = written;
    const beside = {
      ...(description !== undefined && { description }),
      ...('default' in written && { default: value }),
    };
    if (uses.get(own.target) === 1) return { ...write(own.target), ...beside };
    return { ...beside, $ref: `#/$defs/${nameOf(own.target)}` };
  }

  function nameOf(target: Schema): string {
    const known = names.get(target);
    if (known !== undefined) return known;
    const parser = target[details]?.parser;
    const id = (parser && metadataOf(parser).id) ?? target[details]?.typeName ?? 'schema';
    // A reference would have to escape other characters (RFC 6901).
    const base = id.replaceAll(/[^\w.-]/g, '_');
    let name = base;
    for (let count = 2; Object.hasOwn(definitions, name); count += 1) name = `${base}${count}`;
    names.set(target, name);
    // Before its content, which may contain itself.
    const definition = (definitions[name] = {});
    Object.assign(definition, write(target));
    return name;
  }

  // Clients expect the type of the whole at the root, not behind a reference.
  const { $ref: _reference, ...whole } = write({ ...inline(root), [details]: {} }) as JsonSchema;
  return names.size > 0 ? { ...whole, $defs: definitions } : whole;
}

/** Adds the members of the schemas that a reference leads to. */
export function inline(schema: Schema, depth = 0): Schema {
  const { target } = schema[details] ?? {};
  return target && depth < maxDepth ? { ...inline(target, depth + 1), ...schema } : schema;
}

/** Counts the references to each schema. One that contains itself has at least two. */
function countUses(root: Schema): ReadonlyMap<Schema, number> {
  const uses = new Map<Schema, number>();
  function count(schema: Schema): object {
    mapSchemas(schema, count);
    const { target } = schema[details] ?? {};
    if (target === undefined) return schema;
    const before = uses.get(target) ?? 0;
    uses.set(target, before + 1);
    if (before === 0) count(target);
    return schema;
  }
  count(root);
  return uses;
}

/** The patterns of zod's formats that have no parameters. */
const formatPatterns = new Set(
  Object.values(regexes).flatMap((each) => (each instanceof RegExp ? each.source : [])),
);
/** Formats whose patterns zod writes anew for each version or precision, with up to 400 characters. */
const patternedFormats = new Set(['date-time', 'uuid']);

const withoutNoise = (schema: Schema): Schema => {
  const names = Object.keys(schema).filter((name) => saysNothing(name, schema as JsonSchema));
  if (names.length === 0) return schema;
  const copy: Record<PropertyKey, unknown> = { ...schema };
  for (const name of names) delete copy[name];
  return copy;
};

/** Whether a keyword costs tokens, and tells a model nothing that the other keywords do not. */
function saysNothing(name: string, schema: JsonSchema): boolean {
  const { [name]: value, format } = schema;
  switch (name) {
    case '$schema':
    case 'x-inferred':
      return true;
    // `z.int()` has the bounds of safe integers.
    case 'minimum':
      return Number(value) <= Number.MIN_SAFE_INTEGER;
    case 'maximum':
      return Number(value) >= Number.MAX_SAFE_INTEGER;
    case 'pattern':
      return (
        typeof format === 'string' && (patternedFormats.has(format) || formatPatterns.has(String(value)))
      );
    case 'contentEncoding':
      return value === format;
    case 'additionalProperties':
      return value === true || (isObject(value) && Object.keys(value).length === 0);
    case 'propertyNames':
      return isObject(value) && Object.keys(value).length === 1 && value['type'] === 'string';
    default:
      return false;
  }
}
