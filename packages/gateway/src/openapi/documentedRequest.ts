import type { oas31, oas32 } from 'zod-openapi';
import { idempotencyKeyPattern } from '../calls/idempotencyKey.ts';
import { metadataOf } from '../schemas/zodSchema.ts';
import type { Operation } from '../operations/operation.ts';
import { isJson, type OperationBody } from '../operations/operationBody.ts';
import type { Parameter } from '../operations/parameter.ts';
import { isNested } from '../operations/queryTree.ts';
import { readZod } from '../schemas/readSchema.ts';
import { propertiesOf, type Properties } from '../schemas/properties.ts';
import {
  acceptsNull,
  acceptsUndefined,
  details,
  mapSchemas,
  optionalOf,
  parserOf,
  type Schema,
} from '../schemas/schema.ts';
import type { Components, SchemaObject } from '../schemas/components.ts';
import { bytesContent } from './documentedResponses.ts';

/** A parameter in the document. JSON leaves out its absent members. */
interface DocumentedParameter {
  readonly in: string;
  readonly name: string;
  /** The schema of `param` in the metadata of a schema may be a boolean. */
  readonly schema: NonNullable<oas32.ParameterObject['schema']>;
  readonly required: boolean | undefined;
  readonly description: string | undefined;
}

export function documentedRequest(operation: Operation, components: Components): object {
  const { body, headers, isOptional, path, query } = operation.input;
  const inPlace = (parameters: Iterable<Parameter>, isAbsent: boolean) =>
    Array.from(parameters, (parameter) => documentedParameter(parameter, isAbsent, components));
  const own = Map.groupBy(inPlace(headers, isOptional), (parameter) => parameter.in);
  const parameters = [
    ...inPlace(path, false),
    // OpenAPI cannot express "all or none".
    ...inPlace(query.values(), isOptional),
    ...requestHeaders(operation, own.get('header') ?? [], components),
    ...(own.get('cookie') ?? []),
  ];
  return {
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: body && documentedBody(operation, body, components),
  };
}

function documentedParameter(
  parameter: Parameter,
  isOptional: boolean,
  components: Components,
): DocumentedParameter {
  const { place, style } = parameter;
  const schema = isOptional ? optionalOf(parameter.schema) : parameter.schema;
  const described = schemaParameter(place.in, place.name, schema, components);
  const isList = style === 'repeat' || style === 'comma';
  // A query cannot express an empty list or object.
  const least = isList ? { minItems: 1 } : style === 'tree' ? { minProperties: 1 } : {};
  const note =
    style === 'rest'
      ? 'The rest of the path, which may contain slashes (RFC 6570 `{+path}`).'
      : style === 'tree' && isNested(parameter.tree)
        ? `Names continue in brackets, such as \`${place.name}[a][b]=…\`; arrays repeat their name.`
        : undefined;
  return {
    ...described,
    schema:
      described.required && typeof described.schema === 'object'
        ? { ...least, ...described.schema }
        : described.schema,
    // OpenAPI 3.1 defines deepObject for the scalar properties of one object (§4.8.12.4).
    ...(style === 'tree' && { style: 'deepObject', explode: true }),
    description: [described.description, note].filter((text) => text !== undefined).join(' ') || undefined,
  };
}

const isNull = ({ const: value, type }: Schema) => type === 'null' || value === null;

/** Leaves out `null` beside other values: no text represents it, and absence stands for it. */
function asText(schema: Schema): Schema {
  const text: Schema & { readonly default?: unknown } = mapSchemas(schema, asText);
  const { anyOf, default: value, enum: values, type, ...rest } = text;
  const members = anyOf?.filter((member) => !isNull(member));
  if (!acceptsNull(text) || isNull(text) || members?.length === 0) return text;
  const [only, ...others] = members ?? [];
  const types = [type ?? []].flat().filter((each) => each !== 'null');
  const own = {
    ...rest,
    ...(types.length > 0 && { type: types.length > 1 ? types : types[0] }),
    ...(values && { enum: values.filter((each) => each !== null) }),
    ...(value !== undefined && value !== null && { default: value }),
  } as Schema;
  if (only === undefined) return own;
  return others.length > 0
    ? { ...own, anyOf: [only, ...others] }
    : { ...only, ...own, [details]: { ...only[details] } };
}

function schemaParameter(
  where: string,
  name: string,
  schema: Schema,
  components: Components,
): DocumentedParameter {
  const parser = parserOf(schema);
  const { id: _id, ...more } = (parser && metadataOf(parser)['param']) ?? {};
  return {
    in: where,
    name,
    schema: components.write(asText(schema), 'input'),
    ...more,
    // A path has all of its parameters.
    required: acceptsUndefined(schema) && where !== 'path' ? more.required : true,
    description: schema.description ?? schema[details]?.target?.description ?? more.description,
  };
}

/** Request headers of the metadata, the input, `Idempotency-Key`, and `Last-Event-ID` if it can resume. */
function requestHeaders(
  { rest, output, input, procedure }: Operation,
  own: readonly DocumentedParameter[],
  components: Components,
): readonly DocumentedParameter[] {
  const header = (name: string, schema: Schema) => schemaParameter('header', name, schema, components);
  const described = rest.requestHeaders && propertiesOf(readZod(rest.requestHeaders, 'input'))?.shape;
  const headers = [...Object.entries(described ?? {}).map(([name, schema]) => header(name, schema)), ...own];
  if (procedure.idempotencyKey) {
    const description = procedure.isReplayed
      ? 'Retries with the same key return the response of the first request (IETF httpapi draft -07).'
      : 'Retries with the same key have no further effect (IETF httpapi draft -07).';
    const key = { description, type: 'string', pattern: idempotencyKeyPattern.source };
    headers.push(header('Idempotency-Key', procedure.idempotencyKey === 'required' ? key : optionalOf(key)));
  }
  if (output.kind === 'events' && input.query.has('lastEventId')) {
    const description = 'The id of the last event received. The stream continues after it.';
    headers.push(header('Last-Event-ID', optionalOf({ description, type: 'string' })));
  }
  // The description of a header that the input or the gateway reads replaces that of the metadata.
  return [...new Map(headers.map((each) => [each.name.toLowerCase(), each])).values()];
}

function documentedBody(operation: Operation, body: OperationBody, components: Components): object {
  const { contentTypes, required, upload } = body;
  const isBytes = upload !== undefined && upload.kind !== 'spool';
  const content = contentTypes.map((type) => {
    if (isBytes) return [type, bytesContent] as const;
    const described = bodySchema(operation, body);
    const schema = components.write(isJson(type) ? described : asText(described), 'input');
    if (type !== 'multipart/form-data') return [type, { schema }] as const;
    return [type, { schema, encoding: partEncodings(asText(described), components) }] as const;
  });
  return { required, content: Object.fromEntries(content) };
}

/**
 * Parts whose media type is not OpenAPI's default (3.1 §4.8.15.1: `text/plain` for a string,
 * `application/octet-stream` without a type): files, and text fields without a type in their schema.
 */
function partEncodings(
  body: Schema,
  components: Components,
): Record<string, oas31.EncodingObject> | undefined {
  const encodings = Object.entries(propertiesOf(body)?.shape ?? {}).flatMap(([name, schema]) => {
    const contentType = partType(components.write(schema, 'input'), components);
    return contentType === undefined ? [] : [[name, { contentType }] as const];
  });
  return encodings.length > 0 ? Object.fromEntries(encodings) : undefined;
}

/** Returns the media type of a part; `undefined` for the default. */
function partType(schema: SchemaObject | oas31.ReferenceObject, components: Components): string | undefined {
  const part = components.resolve(schema);
  if (part.type === 'array') return part.items && partType(part.items, components);
  if (part.format !== 'binary') return part.type === undefined ? 'text/plain' : undefined;
  const types = [part, ...(part.anyOf ?? [])].flatMap((each) =>
    'contentMediaType' in each && each.contentMediaType !== undefined ? [each.contentMediaType] : [],
  );
  return types.join(', ') || '*/*';
}

/** Returns the schema of a body. If the body is the whole input, it is the input's own schema, which keeps its name. */
function bodySchema({ inputs, input }: Operation, body: OperationBody): Schema {
  const schemas = inputs.filter((schema) => schema !== undefined);
  const [only = {}, ...others] = schemas;
  const otherFields = [...input.path.map(({ field }) => field), ...body.otherFields];
  if (body.isWhole) return only;
  if (others.length === 0 && otherFields.length === 0) return withoutNull(only);
  if (input.isUnion) {
    const [part = {}, ...parts] = schemas
      .map((schema) => withoutProperties(schema, otherFields))
      .filter((schema) => hasProperties(propertiesOf(schema)));
    return parts.length === 0 ? part : { allOf: [part, ...parts] };
  }
  const required = Object.entries(body.shape).flatMap(([name, schema]) =>
    acceptsUndefined(schema) ? [] : [name],
  );
  return {
    type: 'object',
    properties: body.shape,
    ...(required.length > 0 && { required }),
    ...(body.others && { additionalProperties: body.others }),
  };
}

const hasProperties = ({ shape = {}, others }: Partial<Properties> = {}) =>
  others !== undefined || Object.keys(shape).length > 0;

/** Removes properties from an object, or from a union or an intersection of objects. */
function withoutProperties(schema: Schema, names: readonly string[]): Schema {
  const shape = propertiesOf(schema)?.shape ?? {};
  if (!names.some((name) => Object.hasOwn(shape, name))) return schema;
  const { target = schema } = schema[details] ?? {};
  const { [details]: _details, allOf, anyOf, oneOf, properties = {}, required = [], ...rest } = target;
  const without = (parts: readonly Schema[]) => parts.map((part) => withoutProperties(part, names));
  const kept = Object.entries(properties).filter(([name]) => !names.includes(name));
  const keptRequired = required.filter((name) => !names.includes(name));
  return {
    ...rest,
    ...(target.properties && { properties: Object.fromEntries(kept) }),
    ...(keptRequired.length > 0 && { required: keptRequired }),
    ...(allOf && { allOf: without(allOf) }),
    ...(anyOf && { anyOf: without(anyOf) }),
    ...(oneOf && { oneOf: without(oneOf) }),
  };
}

/** Removes `null` from an input of properties, because no request can send it as a set of parameters. */
function withoutNull(schema: Schema): Schema {
  const [member, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return member && others.length === 0 && schema.properties === undefined ? member : schema;
}
