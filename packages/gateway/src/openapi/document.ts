import { simplifyAnyJson } from './anyJson.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument } from '#openapi-generator';
import { z } from 'zod';
import type { oas31, ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { idempotencyKeyPattern } from '../calls/idempotencyKey.ts';
import type { Scheme, SecurityScheme } from '../calls/scheme.ts';
import { isZod } from '../procedures/isZod.ts';
import {
  bytesContent,
  documentedResponses,
  schemesFor,
  type DocumentedService,
} from './documentedResponses.ts';
import { moveErrors } from './errorComponents.ts';
import type { OpenApiDocument } from './openApiDocument.ts';
import type { Operation } from '../operations/operation.ts';
import type { OperationBody } from '../operations/operationBody.ts';
import { operationDescription } from '../operations/deprecation.ts';
import { toOpenApi32 } from './openApi32.ts';
import { simplifySchema } from '../operations/simplifySchema.ts';
import { transformDocument } from './transformDocument.ts';
import type { Parameter } from '../operations/parameter.ts';
import { completeParts } from './partEncoding.ts';
import { parameterName, parameterStyle } from './parameterStyle.ts';
import { documentPath } from '../operations/pathTemplate.ts';
import { optionalOf, unwrap, type AnyZodSchema } from '../operations/zodSchema.ts';

/** Options of the OpenAPI document. */
export interface DocumentOptions {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  /** The license of the API: its name, and optionally its SPDX expression. */
  readonly license?: { readonly name: string; readonly identifier?: string };
  /**
   * The OpenAPI version. `3.2` has its own fields for server-sent events and for QUERY, but fewer tools support it.
   * Default: `3.1`.
   */
  readonly openapi?: '3.1' | '3.2';
  /** The tags that group operations, with descriptions. */
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  /**
   * Modifies the complete document. The returned object is served. It runs once, when the document is created, after
   * the `document` functions of the operations' metadata.
   */
  readonly transform?: (document: oas31.OpenAPIObject) => oas31.OpenAPIObject;
}

export interface CreateDocumentOptions extends DocumentedService {
  readonly operations: readonly Operation[];
  readonly document: DocumentOptions;
  /** The base URL of all paths. */
  readonly server: string;
}

/**
 * Creates the OpenAPI document from the served operations, so that the document and the responses cannot differ.
 * trpc-to-openapi's generator assembles it.
 */
export function createDocument(router: AnyTRPCRouter, options: CreateDocumentOptions): OpenApiDocument {
  const { title, version, description, license, tags } = options.document;
  const document = withTypeMetadata(() =>
    generateOpenApiDocument(router, {
      title,
      version,
      ...(description !== undefined && { description }),
      ...(license && { license }),
      baseUrl: options.server,
      // trpc-to-openapi 3.3.0 would document every success as 200, add 403, and drop the names of body schemas.
      filter: () => false,
      paths: pathItems(options),
      securitySchemes: securitySchemes(options.schemes),
    }),
  );
  const operationObjects = options.operations.map((operation) => {
    const described = document.paths?.[documentPath(operation.rest.path)]?.[methodKey(operation)];
    if (described) completeOperation(described, operation, document.components?.schemas ?? {});
    return described;
  });
  moveErrors(document, operationObjects);
  moveQueries(document);
  const fullDocument = {
    ...document,
    components: { ...document.components, schemas: simplifyAnyJson(document.components?.schemas ?? {}) },
    // An explicit empty list states that no authentication is required.
    ...(options.schemes.length === 0 && { security: [] }),
    ...(tags && { tags }),
  };
  return transformDocument(
    options.document.openapi === '3.2' ? toOpenApi32(fullDocument) : fullDocument,
    options,
  );
}

/** Returns `components.securitySchemes`. The cast is for `mutualTLS`, which the types of trpc-to-openapi 3.3.0 lack. */
const securitySchemes = (schemes: readonly Scheme[]) =>
  Object.fromEntries(
    schemes.map(({ name, document }) => [name, document as Omit<SecurityScheme, 'type'> & { type: 'http' }]),
  );

function pathItems(options: CreateDocumentOptions): ZodOpenApiPathsObject {
  const items: ZodOpenApiPathsObject = {};
  for (const operation of options.operations) {
    const methods = (items[documentPath(operation.rest.path)] ??= {});
    methods[methodKey(operation)] = describeOperation(operation, options);
  }
  return items;
}

/**
 * Returns the key of an operation in its path item while the document is generated. OpenAPI 3.1 has no key for QUERY,
 * so it uses `trace`, which no operation has; `moveQueries` renames it.
 */
const methodKey = ({ rest: { method } }: Operation) =>
  method === 'QUERY' ? 'trace' : (method.toLowerCase() as Lowercase<typeof method>);

/** Moves each QUERY operation to `x-query` of its path item, because OpenAPI 3.1 has no `query`. */
function moveQueries(document: Pick<oas31.OpenAPIObject, 'paths'>): void {
  for (const item of Object.values(document.paths ?? {})) {
    if (item.trace === undefined) continue;
    Object.assign(item, { 'x-query': item.trace });
    delete item.trace;
  }
}

/**
 * Adds the style of each parameter and the media types of form parts. zod-openapi reads the style only from the
 * metadata of a schema, which several parameters may share.
 */
function completeOperation(
  described: oas31.OperationObject,
  { input }: Operation,
  schemas: oas31.ComponentsObject['schemas'] & {},
): void {
  for (const parameter of [...input.path, ...input.query.values()]) {
    const { name, in: where } = parameterName(parameter);
    const own = described.parameters?.find((each) => 'in' in each && each.in === where && each.name === name);
    if (own && 'in' in own) Object.assign(own, parameterStyle(parameter, own));
  }
  const body = described.requestBody;
  const form = body && 'content' in body ? body.content['multipart/form-data'] : undefined;
  if (form) completeParts(form, schemas, streamedFiles(input.body));
}

/**
 * Runs `generate` with a patched zod registry, because trpc-to-openapi 3.3 cannot pass `override` to zod-openapi:
 * - A date has the format `date-time` (RFC 3339), unless its metadata has another. zod-openapi gives it none.
 * - Tuples and constants are simplified for client generators.
 * - `typescript`, which is for petstore-typegen, is not in the document.
 */
function withTypeMetadata<Generated>(generate: () => Generated): Generated {
  const registry = z.globalRegistry;
  const get = registry.get.bind(registry);
  registry.get = (schema) => {
    const metadata = withoutTypescript(get(schema));
    const { type } = schema._zod.def;
    if (type === 'date') return { format: 'date-time', ...metadata };
    return simplifiedTypes.has(type) ? { override: simplify, ...metadata } : metadata;
  };
  try {
    return generate();
  } finally {
    Reflect.deleteProperty(registry, 'get');
  }
}

function withoutTypescript<Metadata extends object>(metadata: Metadata | undefined): Metadata | undefined {
  if (metadata === undefined || !('typescript' in metadata)) return metadata;
  const { typescript: _typescript, ...others } = metadata;
  return others as unknown as Metadata;
}

const simplifiedTypes: ReadonlySet<string> = new Set(['tuple', 'literal', 'enum']);

function simplify({ jsonSchema }: { readonly jsonSchema: Record<string, unknown> }): void {
  const simplified = simplifySchema(jsonSchema);
  for (const keyword of Object.keys(jsonSchema)) if (!(keyword in simplified)) delete jsonSchema[keyword];
  Object.assign(jsonSchema, simplified);
}

function describeOperation(operation: Operation, service: DocumentedService): ZodOpenApiOperationObject {
  const { input, isPublic, procedure, rest } = operation;
  const { body, path, query } = input;
  const files = streamedFiles(body);
  const { summary, tags, deprecation } = rest;
  const description = operationDescription(rest);
  const header = requestHeaders(operation);
  const cookies = input.headers.filter(({ place }) => place.in === 'cookie');
  return {
    operationId: rest.operationId ?? procedure.path,
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(tags && { tags: [...tags] }),
    ...((rest.deprecated || deprecation) && { deprecated: true }),
    ...(deprecation?.sunset && { 'x-sunset': deprecation.sunset.toISOString().slice(0, 10) }),
    ...(service.schemes.length > 0 && {
      security: isPublic
        ? []
        : schemesFor(procedure, service.schemes).map(({ name }) => ({
            [name]: [...(procedure.scopes ?? [])],
          })),
    }),
    requestParams: {
      ...(path.length > 0 && { path: parameterObject(path) }),
      ...(query.size > 0 && { query: parameterObject([...query.values()], input.isOptional) }),
      ...(header && { header }),
      ...(cookies.length > 0 && { cookie: parameterObject(cookies, input.isOptional) }),
    },
    ...(body && {
      requestBody: {
        ...(files !== undefined && {
          description: `Send the fields before the files of \`${files}\`. The files are optional.`,
        }),
        required: body.required,
        content: Object.fromEntries(
          body.contentTypes.map((type) => [
            type,
            isBytes(body) ? bytesContent : { schema: bodySchema(operation) },
          ]),
        ),
      },
    }),
    responses: documentedResponses(operation, service),
  };
}

/** Returns the name of the `fileStream()` property of a form. */
const streamedFiles = (body: OperationBody | undefined): string | undefined =>
  body?.upload?.kind === 'files' ? body.upload.field : undefined;

const isBytes = ({ upload }: OperationBody): boolean =>
  upload !== undefined && upload.kind !== 'files' && upload.kind !== 'spool';

/**
 * Returns the request headers of an operation: those in its metadata, those of its input, `Idempotency-Key`, and
 * `Last-Event-ID` for a subscription that can resume.
 */
function requestHeaders({ rest, output, input, procedure }: Operation): z.ZodObject | undefined {
  const own = input.headers.filter(({ place }) => place.in === 'header');
  let headers = rest.requestHeaders;
  if (own.length > 0) {
    headers = z.object({ ...headers?.shape, ...parameterObject(own, input.isOptional).shape });
  }
  const add = (name: string, schema: z.ZodString, description: string, isRequired = false) => {
    const described = (isRequired ? schema : schema.optional()).meta({ description });
    headers = (headers ?? z.object({})).extend({ [name]: described });
  };
  if (rest.idempotencyKey || procedure.idempotencyKey) {
    const description = procedure.idempotencyKey
      ? 'Retries with the same key return the response of the first request (IETF httpapi draft -07).'
      : 'Retries with the same key have no further effect for 24 hours (IETF httpapi draft -07).';
    const isRequired = procedure.idempotencyKey === 'required';
    add('Idempotency-Key', z.string().regex(idempotencyKeyPattern), description, isRequired);
  }
  if (output.kind === 'events' && input.query.get('lastEventId')) {
    add('Last-Event-ID', z.string(), 'The id of the last event received. The stream continues after it.');
  }
  return headers;
}

/**
 * Combines parameters into a zod object.
 * @param isOptional makes each parameter optional, for an input that may be absent as a whole: OpenAPI cannot express
 *   "all or none"
 */
const parameterObject = (list: readonly Parameter[], isOptional = false) =>
  z.object(
    Object.fromEntries(
      list.map((parameter) => [
        parameterName(parameter).name,
        (isOptional ? optionalOf(parameter.schema) : parameter.schema) as z.ZodType,
      ]),
    ),
  );

/** Returns the schema of a body. If the body is the whole input, it is the input's own schema, which keeps its name. */
function bodySchema({ inputs, input }: Operation): z.ZodType {
  const [only, ...others] = inputs;
  const { body, path } = input;
  if (body?.wholeSchema) return body.wholeSchema as z.ZodType;
  const otherFields = [...path.map(({ field }) => field), ...(body?.otherFields ?? [])];
  if (others.length === 0 && otherFields.length === 0 && isZod(only)) return withoutNull(only) as z.ZodType;
  if (!body?.isUnion) return z.object((body?.shape ?? {}) as Record<string, z.ZodType>);
  const parts = inputs.filter(isZod).map((part) => withoutProperties(part, otherFields) as z.ZodType);
  return parts.reduce((left, right) => z.intersection(left, right));
}

/**
 * Removes properties from an object, or from a union or an intersection of objects. Returns the schema itself if it has
 * none.
 */
function withoutProperties(schema: z.core.$ZodType, names: readonly string[]): z.core.$ZodType {
  const without = (part: z.core.$ZodType) => withoutProperties(part, names);
  const { def } = (schema as AnyZodSchema)._zod;
  if (def.type === 'object') {
    if (!names.some((name) => Object.hasOwn(def.shape, name))) return schema;
    const kept = Object.entries(def.shape).filter(([name]) => !names.includes(name));
    return z.object(Object.fromEntries(kept) as Record<string, z.ZodType>);
  }
  if (def.type === 'intersection') return z.intersection(without(def.left), without(def.right));
  if (def.type === 'union') {
    const options = def.options.map(without);
    if (options.every((option, index) => option === def.options[index])) return schema;
    const discriminator = 'discriminator' in def ? (def.discriminator as string) : undefined;
    if (discriminator === undefined || names.includes(discriminator)) return z.union(options);
    return z.discriminatedUnion(discriminator, options as unknown as [z.ZodObject, ...z.ZodObject[]]);
  }
  const inner = unwrap(schema);
  return inner ? without(inner) : schema;
}

/** Removes `.nullable()` from an input of properties, because no request can send `null` as a set of parameters. */
function withoutNull(input: z.core.$ZodType): z.core.$ZodType {
  const inner = unwrap(input);
  const withoutInnerNull = inner && withoutNull(inner);
  return withoutInnerNull && (withoutInnerNull !== inner || input._zod.def.type === 'nullable')
    ? withoutInnerNull
    : input;
}
