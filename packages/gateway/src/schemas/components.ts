import type { z } from 'zod';
import type { oas31 } from 'zod-openapi';
import { GatewayError } from '../checks/gatewayError.ts';
import { metadataOf } from './zodSchema.ts';
import { details, mapSchemas, type Details, type Schema } from './schema.ts';

export type SchemaObject = oas31.SchemaObject;

const prefix = '#/components/schemas/';

export type HeaderObject = oas31.HeaderObject | oas31.ReferenceObject;

/** Writes schemas for the document. Schemas with a name, and recursive ones, are references to `components.schemas`. */
export class Components {
  readonly schemas: Record<string, SchemaObject> = {};
  readonly headers: Record<string, HeaderObject> = {};
  /** The procedure whose schemas are written. */
  owner = '';
  /** The procedures that a schema was first written for, by the name of the schema. */
  readonly #owners = new Map<string, string>();
  /** The names of the targets of references, by their content: an input and an output may have one in common. */
  readonly #names = new Map<string, string>();
  readonly #contents = new WeakMap<Schema, string>();
  readonly #ids: ReadonlySet<string>;

  /** @param ids those of all schemas, which no inferred type may have as its name */
  constructor(ids: ReadonlySet<string> = new Set()) {
    this.#ids = ids;
  }

  /** Outputs are written after all inputs, and get another name where the schemas of a name differ. */
  write(schema: Schema, side: 'input' | 'output'): SchemaObject {
    const { [details]: own, ...written } = mapSchemas(schema, (nested) => this.write(nested, side));
    if (own?.target) return { ...written, $ref: prefix + this.#nameOf(own.target, side) } as SchemaObject;
    return simplify({ ...written, ...(own?.discriminator && discriminator(written, own.discriminator)) });
  }

  /** Adds a schema that is written. Returns a reference to it, or the schema itself if its name is taken. */
  add(name: string, schema: SchemaObject): SchemaObject {
    const other = this.schemas[name];
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(schema)) return schema;
    this.schemas[name] = schema;
    return { $ref: prefix + name };
  }

  /** Adds headers that many responses have: a third of a large document. Returns references to them. */
  sharedHeaders(headers: Readonly<Record<string, HeaderObject>>): Record<string, HeaderObject> {
    Object.assign(this.headers, headers);
    return Object.fromEntries(
      Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    );
  }

  resolve(schema: SchemaObject | oas31.ReferenceObject): SchemaObject {
    const { $ref } = schema as oas31.ReferenceObject;
    return $ref === undefined
      ? (schema as SchemaObject)
      : this.resolve(this.schemas[$ref.slice(prefix.length)] ?? {});
  }

  #nameOf(target: Schema, side: 'input' | 'output'): string {
    const { id, outputId = `${id}Output` } = parserMetadata(target);
    const { typeName } = target[details] ?? {};
    const content = this.#contentOf(target);
    const key = `${id ?? typeName} ${content}`;
    let name = this.#names.get(key);
    if (name !== undefined) return name;
    if (id === undefined) {
      name = typeName ?? '__schema0';
      const isTaken = (each: string) => Object.hasOwn(this.schemas, each) || this.#ids.has(each);
      for (let index = typeName ? 2 : 1; isTaken(name); index += 1)
        name = `${typeName ?? '__schema'}${index}`;
    } else {
      name = Object.hasOwn(this.schemas, id) && side === 'output' ? outputId : id;
    }
    if (Object.hasOwn(this.schemas, name)) {
      const other = this.#owners.get(name);
      const where =
        other === this.owner ? `procedure "${other}"` : `procedures "${other}" and "${this.owner}"`;
      throw new GatewayError(
        `Two different schemas in the ${where} have the id "${id}". Give one of them another id in its .meta({ id: … }).`,
      );
    }
    this.#owners.set(name, this.owner);
    this.#names.set(key, name);
    // Before its content, which may contain itself.
    const written = (this.schemas[name] = {});
    Object.assign(written, withoutAnyJson(this.write(target, side), prefix + name));
    return name;
  }

  /** Returns the content of a schema and of all that it refers to, as a text that is the same for equal schemas. */
  #contentOf(root: Schema): string {
    let content = this.#contents.get(root);
    if (content !== undefined) return content;
    const targets = new Map([[root, 0]]);
    const write = (schema: Schema): object => {
      const { target } = schema[details] ?? {};
      if (target && !targets.has(target)) targets.set(target, targets.size);
      return Object.assign(mapSchemas(schema, write), target && { $ref: targets.get(target) });
    };
    content = '';
    for (const target of targets.keys())
      content += `${parserMetadata(target).id} ${JSON.stringify(write(target))}\n`;
    this.#contents.set(root, content);
    return content;
  }
}

const parserMetadata = ({ [details]: own }: Schema): z.core.GlobalMeta =>
  own?.parser ? metadataOf(own.parser) : {};

/** OpenAPI requires a mapping, and hence references, where the names of schemas are not the constants. */
function discriminator(
  { oneOf = [] }: Schema,
  { propertyName, values }: NonNullable<Details['discriminator']>,
): object {
  const references = (oneOf as oas31.ReferenceObject[]).map(({ $ref }) => $ref);
  if (!references.every((reference) => reference !== undefined)) return { type: 'object' };
  const mapping = Object.fromEntries(
    references.flatMap((reference, index) => (values[index] ?? []).map((value) => [value, reference])),
  );
  return { type: 'object', discriminator: { propertyName, mapping } };
}

/**
 * Keeps the meaning for client generators. A tuple gets `maxItems`, not `items: false`: openapi-python-client 0.29
 * rejects boolean schemas. Constants get types, and an `anyOf` if they differ: without, it leaves the operation out,
 * and the client of openapi-generator 7.26 does not compile.
 */
function simplify(schema: Schema): SchemaObject {
  const { items, prefixItems, enum: listed, ...rest } = schema;
  if (items === false && prefixItems)
    return { ...rest, prefixItems, maxItems: prefixItems.length } as SchemaObject;
  if (schema.type !== undefined) return schema as SchemaObject;
  if ('const' in schema) return { ...typeOfConstant(schema.const), ...schema } as SchemaObject;
  const types = Map.groupBy(listed ?? [], (value) => typeOfConstant(value)?.type);
  if (listed === undefined || types.has(undefined)) return schema as SchemaObject;
  const members = Array.from(types, ([type, values]) =>
    type === 'null' ? { type } : { type, enum: values },
  );
  return { ...rest, ...(members.length === 1 ? members[0] : { anyOf: members }) } as SchemaObject;
}

/** Returns the JSON type of a constant; `undefined` for an object or an array. */
function typeOfConstant(value: unknown): { readonly type: string } | undefined {
  if (value === null) return { type: 'null' };
  return typeof value === 'object' ? undefined : { type: typeof value };
}

const jsonTypes = ['array', 'boolean', 'null', 'number', 'object', 'string'];

/** Any JSON value, as `z.json()`, without its `anyOf`: types of openapi-typescript 7.13 do not compile (TS2502). */
function withoutAnyJson(schema: SchemaObject, reference: string): SchemaObject {
  const { anyOf = [], ...described } = schema as Schema;
  const isAny =
    jsonTypes.every((type) => anyOf.some((member) => member.type === type)) &&
    anyOf.every(({ additionalProperties, items, type }) => {
      const nested = type === 'array' ? items : type === 'object' ? additionalProperties : undefined;
      return nested === undefined || (nested as oas31.ReferenceObject).$ref === reference;
    });
  return isAny ? (described as SchemaObject) : schema;
}
