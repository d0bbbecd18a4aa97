import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument } from '#openapi-generator';
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { idempotencyKeyPattern } from '../policies/idempotencyKey.ts';
import type { Scheme, SecurityScheme } from '../policies/scheme.ts';
import { isZod } from '../procedures/isZod.ts';
import type { Parameter } from './convert.ts';
import { documentedResponses, schemesFor, type DocumentedService } from './documentedResponses.ts';
import type { Operation } from './operation.ts';
import { operationDescription } from './deprecation.ts';
import { toOpenApi32 } from './openApi32.ts';
import { unwrap } from './zodSchema.ts';

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
  const complete = {
    ...document,
    // Explicit: without it a reader cannot tell "none" from "forgotten".
    ...(options.schemes.length === 0 && { security: [] }),
    ...(tags && { tags }),
  };
  return options.document.openapi === '3.2' ? toOpenApi32(complete) : complete;
}

/** OpenAPI 3.1 has `mutualTLS`, and the generator's types (trpc-to-openapi 3.3.0) do not. */
const securitySchemes = (schemes: readonly Scheme[]) =>
  Object.fromEntries(
    schemes.map(({ name, document }) => [name, document as Omit<SecurityScheme, 'type'> & { type: 'http' }]),
  );

function paths(options: CreateDocumentOptions): ZodOpenApiPathsObject {
  const all: ZodOpenApiPathsObject = {};
  for (const operation of options.operations) {
    const { method, path } = operation.rest;
    const methods = (all[path] ??= {});
    methods[method.toLowerCase() as Lowercase<typeof method>] = describe(operation, options);
  }
  return all;
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
  const { rest, body, isPublic, pathParameters, procedure, texts } = operation;
  const { summary, tags, deprecation } = rest;
  const description = operationDescription(rest);
  const header = requestHeaders(operation);
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
      ...(pathParameters.length > 0 && { path: parameters(pathParameters) }),
      ...(!body && texts.size > 0 && { query: queryObject(operation) }),
      ...(header && { header }),
    },
    ...(body && {
      requestBody: {
        required: body.required,
        content: Object.fromEntries(
          body.contentTypes.map((type) => [type, { schema: bodySchema(operation) }]),
        ),
      },
    }),
    responses: documentedResponses(operation, service),
  };
}

/** The headers that the metadata describes, `Idempotency-Key`, and the `Last-Event-ID` of a subscription that can resume. */
function requestHeaders({ rest, output, texts }: Operation): z.ZodObject | undefined {
  let headers = rest.requestHeaders;
  const add = (name: string, schema: z.ZodString, description: string) => {
    headers = (headers ?? z.object({})).extend({ [name]: schema.optional().meta({ description }) });
  };
  if (rest.idempotencyKey) {
    const description =
      'Repeats of a request under one key, for 24 hours, change nothing (IETF httpapi draft -07).';
    add('Idempotency-Key', z.string().regex(idempotencyKeyPattern), description);
  }
  if (output.kind === 'events' && texts.has('lastEventId')) {
    add('Last-Event-ID', z.string(), 'The id of the last event that came: the stream goes on after it.');
  }
  return headers;
}

const parameters = (list: readonly Pick<Parameter, 'name' | 'schema'>[]) =>
  z.object(Object.fromEntries(list.map(({ name, schema }) => [name, schema as z.ZodType])));

/** Where the input as a whole may be absent, so may each parameter: OpenAPI cannot say "all of them or none". */
function queryObject({ texts, isInputOptional }: Operation): z.ZodObject {
  const list = [...texts.values()];
  if (!isInputOptional) return parameters(list);
  const absent = list.map(({ name, schema }) => {
    const { id: _id, ...metadata } = z.globalRegistry.get(schema) ?? {};
    return { name, schema: z.optional(schema).meta(metadata) };
  });
  return parameters(absent);
}

/** The input itself where the body is all of it, so that its name survives. */
function bodySchema({ procedure, pathParameters, shape }: Operation): z.ZodType {
  const [input, ...others] = procedure.inputs;
  return others.length === 0 && pathParameters.length === 0 && isZod(input)
    ? (withoutNull(input) as z.ZodType)
    : z.object(shape as Record<string, z.ZodType>);
}

/** What the innermost `.nullable()` of an input wraps: `null` names no parameters, so no request can send it as the input. */
function withoutNull(input: z.core.$ZodType): z.core.$ZodType {
  const inner = unwrap(input);
  const found = inner && withoutNull(inner);
  return found && (found !== inner || input._zod.def.type === 'nullable') ? found : input;
}
