import { z } from 'zod';
import { details, mapSchemas, maxDepth, type Schema } from '../../operations/schema.ts';

/** A JSON Schema (draft 2020-12) as clients receive it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Writes a schema with the schemas that it refers to in `$defs`, since a client reads the schema of one tool alone. */
export function writeJsonSchema(root: Schema): JsonSchema {
  const names = new Map<Schema, string>();
  const definitions: Record<string, object> = {};

  function write(schema: Schema): object {
    const { [details]: own, ...written } = mapSchemas(schema, write);
    return own?.target ? { ...written, $ref: `#/$defs/${nameOf(own.target)}` } : written;
  }

  function nameOf(target: Schema): string {
    const known = names.get(target);
    if (known !== undefined) return known;
    const parser = target[details]?.parser;
    const id = (parser && z.globalRegistry.get(parser)?.id) ?? 'schema';
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
