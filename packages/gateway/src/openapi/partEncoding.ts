import type { oas31 } from 'zod-openapi';

type Schema = oas31.SchemaObject | oas31.ReferenceObject;
type Schemas = Readonly<Record<string, Schema>>;

/**
 * Adds `encoding` to a `multipart/form-data` body for parts that do not have OpenAPI's default media type (3.1
 * §4.8.15.1: `text/plain` for a string, `application/octet-stream` for a schema without a type): for files, and for
 * text fields without a type in their schema.
 * @param schemas the schemas of the document, for references; the `contentEncoding` of files is removed from them
 * @param files the `fileStream()` property: it becomes optional, because a form without files is valid
 */
export function completeParts(media: oas31.MediaTypeObject, schemas: Schemas, files?: string): void {
  const schema = resolved(media.schema, schemas);
  if (files !== undefined && schema.required) {
    const required = schema.required.filter((name) => name !== files);
    if (required.length > 0) schema.required = required;
    else delete schema.required;
  }
  const encoding = new Map<string, oas31.EncodingObject>();
  for (const [name, property] of propertiesOf(media.schema, schemas)) {
    const contentType = partType(property, schemas);
    if (contentType !== undefined) encoding.set(name, { contentType });
  }
  if (encoding.size > 0) media.encoding = Object.fromEntries(encoding);
}

/** Yields the properties of an object, or of the members of a union or an intersection. */
function* propertiesOf(
  schema: Schema | undefined,
  schemas: Schemas,
): Generator<readonly [name: string, property: Schema]> {
  const { allOf = [], anyOf = [], oneOf = [], properties = {} } = resolved(schema, schemas);
  yield* Object.entries(properties);
  for (const member of [...allOf, ...anyOf, ...oneOf]) yield* propertiesOf(member, schemas);
}

/** Returns the media type of a part; `undefined` for the default. */
function partType(schema: Schema, schemas: Schemas): string | undefined {
  const part = resolved(schema, schemas);
  if (part.type === 'array') return part.items && partType(part.items, schemas);
  if (part.format !== 'binary') return part.type === undefined ? 'text/plain' : undefined;
  // OpenAPI 3.1 §4.8.14.4: raw binary data has no contentEncoding. With one, the client that orval 8 generates sends
  // text.
  delete part.contentEncoding;
  const types = [part, ...(part.anyOf ?? [])].flatMap((each) =>
    'contentMediaType' in each && each.contentMediaType !== undefined ? [each.contentMediaType] : [],
  );
  return types.join(', ') || '*/*';
}

function resolved(schema: Schema = {}, schemas: Schemas): oas31.SchemaObject {
  if (!('$ref' in schema) || schema.$ref === undefined) return schema as oas31.SchemaObject;
  return resolved(schemas[schema.$ref.split('/').at(-1) ?? ''], schemas);
}
