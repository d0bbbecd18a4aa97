import type { oas31 } from 'zod-openapi';

/** A schema of an OpenAPI document, inline or as a reference. */
export type SchemaOrReference = oas31.SchemaObject | oas31.ReferenceObject;
type ComponentSchemas = Readonly<Record<string, SchemaOrReference>>;

/**
 * Adds `encoding` to a `multipart/form-data` body for parts that do not have OpenAPI's default media type (3.1
 * §4.8.15.1: `text/plain` for a string, `application/octet-stream` for a schema without a type): for files, and for
 * text fields without a type in their schema.
 * @param schemas the schemas of the document, for references; the `contentEncoding` of files is removed from them
 * @param files the `fileStream()` property: it becomes optional, because a form without files is valid
 */
export function completeParts(media: oas31.MediaTypeObject, schemas: ComponentSchemas, files?: string): void {
  const schema = resolveReference(media.schema, schemas);
  if (files !== undefined && schema.required) {
    const required = schema.required.filter((name) => name !== files);
    if (required.length > 0) schema.required = required;
    else delete schema.required;
  }
  const encoding = new Map<string, oas31.EncodingObject>();
  for (const [name, property] of formProperties(media.schema, schemas)) {
    const contentType = partType(property, schemas);
    if (contentType !== undefined) encoding.set(name, { contentType });
  }
  if (encoding.size > 0) media.encoding = Object.fromEntries(encoding);
}

/** Yields the properties of an object, or of the members of a union or an intersection. */
function* formProperties(
  schema: SchemaOrReference | undefined,
  schemas: ComponentSchemas,
): Generator<readonly [name: string, property: SchemaOrReference]> {
  const { allOf = [], anyOf = [], oneOf = [], properties = {} } = resolveReference(schema, schemas);
  yield* Object.entries(properties);
  for (const member of [...allOf, ...anyOf, ...oneOf]) yield* formProperties(member, schemas);
}

/** Returns the media type of a part; `undefined` for the default. */
function partType(schema: SchemaOrReference, schemas: ComponentSchemas): string | undefined {
  const part = resolveReference(schema, schemas);
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

function resolveReference(schema: SchemaOrReference = {}, schemas: ComponentSchemas): oas31.SchemaObject {
  if (!('$ref' in schema) || schema.$ref === undefined) return schema as oas31.SchemaObject;
  return resolveReference(schemas[schema.$ref.split('/').at(-1) ?? ''], schemas);
}
