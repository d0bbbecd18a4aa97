import { simplifyAnyJson } from './anyJson.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument } from '#openapi-generator';
import { z } from 'zod';
import type { oas31, ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { idempotencyKeyPattern } from '../policies/idempotencyKey.ts';
import type { Scheme, SecurityScheme } from '../policies/scheme.ts';
import { isZod } from '../procedures/isZod.ts';
import { documentedResponses, schemesFor, type DocumentedService } from './documentedResponses.ts';
import { moveErrors } from './errorComponents.ts';
import type { Operation } from './operation.ts';
import type { OperationBody } from './operationBody.ts';
import { operationDescription } from './deprecation.ts';
import { toOpenApi32 } from './openApi32.ts';
import { transformed } from './transformDocument.ts';
import type { Parameter } from './parameter.ts';
import { completeParts } from './partEncoding.ts';
import { parameterName, parameterStyle } from './parameterStyle.ts';
import { documentPath } from './pathTemplate.ts';
import { optionalOf, unwrap, type Schema } from './zodSchema.ts';

/** What the OpenAPI document says about the service as a whole. */
export interface DocumentOptions {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  /** Of the interface: its name, and its SPDX expression. */
  readonly license?: { readonly name: string; readonly identifier?: string };
  /**
   * The version of OpenAPI: `3.2` describes events and QUERY by its own members, and fewer tools read it. Default: `3.1`.
   */
  readonly openapi?: '3.1' | '3.2';
  /** Tags that group operations, with what each is about. */
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  /**
   * Changes the document as a whole, once, when it is made: the object that it returns is served. Operations have
   * `document` in their metadata, which comes before.
   */
  readonly transform?: (document: oas31.OpenAPIObject) => oas31.OpenAPIObject;
}

/** The OpenAPI document, as JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

export interface CreateDocumentOptions extends DocumentedService {
  readonly operations: readonly Operation[];
  readonly document: DocumentOptions;
  /** The URL that paths are below. */
  readonly server: string;
}

/**
 * The OpenAPI document. It is written from the operations that are served, so that the document and the responses
 * cannot differ; trpc-to-openapi's generator assembles it.
 */
export function createDocument(router: AnyTRPCRouter, options: CreateDocumentOptions): OpenApiDocument {
  const { title, version, description, license, tags } = options.document;
  const document = withDateFormat(() =>
    generateOpenApiDocument(router, {
      title,
      version,
      ...(description !== undefined && { description }),
      ...(license && { license }),
      baseUrl: options.server,
      // Its own reading of procedures documents every success as 200, adds 403, and drops the names of bodies (3.3.0).
      filter: () => false,
      paths: paths(options),
      securitySchemes: securitySchemes(options.schemes),
    }),
  );
  const all = options.operations.map((operation) => {
    const described = document.paths?.[documentPath(operation.rest.path)]?.[methodKey(operation)];
    if (described) completeOperation(described, operation, document.components?.schemas ?? {});
    return described;
  });
  moveErrors(document, all);
  moveQueries(document);
  const complete = {
    ...document,
    components: { ...document.components, schemas: simplifyAnyJson(document.components?.schemas ?? {}) },
    // Explicit: without it a reader cannot tell "none" from "forgotten".
    ...(options.schemes.length === 0 && { security: [] }),
    ...(tags && { tags }),
  };
  return transformed(options.document.openapi === '3.2' ? toOpenApi32(complete) : complete, options);
}

/** OpenAPI 3.1 has `mutualTLS`, and the generator's types (trpc-to-openapi 3.3.0) do not. */
const securitySchemes = (schemes: readonly Scheme[]) =>
  Object.fromEntries(
    schemes.map(({ name, document }) => [name, document as Omit<SecurityScheme, 'type'> & { type: 'http' }]),
  );

function paths(options: CreateDocumentOptions): ZodOpenApiPathsObject {
  const all: ZodOpenApiPathsObject = {};
  for (const operation of options.operations) {
    const methods = (all[documentPath(operation.rest.path)] ??= {});
    methods[methodKey(operation)] = describe(operation, options);
  }
  return all;
}

/**
 * The name of an operation in its path item while the document is generated. OpenAPI 3.1 has none for QUERY: it stands as
 * TRACE, which no operation has, and becomes an extension in the end.
 */
const methodKey = ({ rest: { method } }: Operation) =>
  method === 'QUERY' ? 'trace' : (method.toLowerCase() as Lowercase<typeof method>);

/** Moves each QUERY operation to `x-query` of its path: OpenAPI 3.1 has no `query`, and 3.2 has. */
function moveQueries(document: Pick<oas31.OpenAPIObject, 'paths'>): void {
  for (const item of Object.values(document.paths ?? {})) {
    if (item.trace === undefined) continue;
    Object.assign(item, { 'x-query': item.trace });
    delete item.trace;
  }
}

/**
 * Adds the style of each parameter, and the media types of the parts of a form: zod-openapi reads the first from the
 * schema's metadata alone, and parameters share schemas.
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
 * Runs `generate` while zod's registry says of each date that its format is `date-time` (RFC 3339), unless the date's
 * metadata names another. trpc-to-openapi 3.3 passes no `override` to zod-openapi, which describes a date as a string.
 */
function withDateFormat<Generated>(generate: () => Generated): Generated {
  const registry = z.globalRegistry;
  const get = registry.get.bind(registry);
  registry.get = (schema) => {
    const metadata = get(schema);
    return schema._zod.def.type === 'date' ? { format: 'date-time', ...metadata } : metadata;
  };
  try {
    return generate();
  } finally {
    Reflect.deleteProperty(registry, 'get');
  }
}

function describe(operation: Operation, service: DocumentedService): ZodOpenApiOperationObject {
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
      ...(path.length > 0 && { path: parameters(path) }),
      ...(query.size > 0 && { query: parameters([...query.values()], input.isOptional) }),
      ...(header && { header }),
      ...(cookies.length > 0 && { cookie: parameters(cookies, input.isOptional) }),
    },
    ...(body && {
      requestBody: {
        ...(files !== undefined && {
          description: `The fields come before the files of \`${files}\`, of which there may be none.`,
        }),
        required: body.required,
        content: Object.fromEntries(
          // OpenAPI 3.1 §4.8.14.4: bytes have no schema.
          body.contentTypes.map((type) => [type, isBytes(body) ? {} : { schema: bodySchema(operation) }]),
        ),
      },
    }),
    responses: documentedResponses(operation, service),
  };
}

/** The property of a form that is a `fileStream()`. */
const streamedFiles = (body: OperationBody | undefined): string | undefined =>
  body?.upload?.kind === 'files' ? body.upload.field : undefined;

const isBytes = ({ upload }: OperationBody): boolean =>
  upload !== undefined && upload.kind !== 'files' && upload.kind !== 'spool';

/** The headers that the metadata describes, those that the input is read from, `Idempotency-Key`, and the `Last-Event-ID` of a subscription that can resume. */
function requestHeaders({ rest, output, input, procedure }: Operation): z.ZodObject | undefined {
  const own = input.headers.filter(({ place }) => place.in === 'header');
  let headers = rest.requestHeaders;
  if (own.length > 0) {
    headers = z.object({ ...headers?.shape, ...parameters(own, input.isOptional).shape });
  }
  const add = (name: string, schema: z.ZodString, description: string, isRequired = false) => {
    const described = (isRequired ? schema : schema.optional()).meta({ description });
    headers = (headers ?? z.object({})).extend({ [name]: described });
  };
  if (rest.idempotencyKey || procedure.idempotencyKey) {
    const description = procedure.idempotencyKey
      ? 'Repeats of a request under one key are answered with its response (IETF httpapi draft -07).'
      : 'Repeats of a request under one key, for 24 hours, change nothing (IETF httpapi draft -07).';
    const isRequired = procedure.idempotencyKey === 'required';
    add('Idempotency-Key', z.string().regex(idempotencyKeyPattern), description, isRequired);
  }
  if (output.kind === 'events' && input.query.get('lastEventId')) {
    add('Last-Event-ID', z.string(), 'The id of the last event that came: the stream goes on after it.');
  }
  return headers;
}

/**
 * @param isOptional where the input as a whole may be absent, so may each parameter: OpenAPI cannot say "all of them or
 *   none"
 */
const parameters = (list: readonly Parameter[], isOptional = false) =>
  z.object(
    Object.fromEntries(
      list.map((parameter) => [
        parameterName(parameter).name,
        (isOptional ? optionalOf(parameter.schema) : parameter.schema) as z.ZodType,
      ]),
    ),
  );

/** The input itself where the body is all of it, so that its name survives. */
function bodySchema({ inputs, input }: Operation): z.ZodType {
  const [only, ...others] = inputs;
  const { body, path } = input;
  if (body?.whole) return body.whole as z.ZodType;
  const elsewhere = [...path.map(({ field }) => field), ...(body?.elsewhere ?? [])];
  if (others.length === 0 && elsewhere.length === 0 && isZod(only)) return withoutNull(only) as z.ZodType;
  if (!body?.isUnion) return z.object((body?.shape ?? {}) as Record<string, z.ZodType>);
  const parts = inputs.filter(isZod).map((part) => withoutProperties(part, elsewhere) as z.ZodType);
  return parts.reduce((left, right) => z.intersection(left, right));
}

/** An object, a union or an intersection of objects without some of their properties; itself where it has none of them. */
function withoutProperties(schema: z.core.$ZodType, names: readonly string[]): z.core.$ZodType {
  const without = (part: z.core.$ZodType) => withoutProperties(part, names);
  const { def } = (schema as Schema)._zod;
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

/** What the innermost `.nullable()` of an input wraps: `null` names no parameters, so no request can send it as the input. */
function withoutNull(input: z.core.$ZodType): z.core.$ZodType {
  const inner = unwrap(input);
  const found = inner && withoutNull(inner);
  return found && (found !== inner || input._zod.def.type === 'nullable') ? found : input;
}
