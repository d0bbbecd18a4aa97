import type { oas31 } from 'zod-openapi';
import type { Scheme } from '../calls/scheme.ts';
import type { HttpResponse } from '../http/response.ts';
import { operationDescription } from '../operations/deprecation.ts';
import type { Operation } from '../operations/operation.ts';
import { documentPath } from '../operations/pathTemplate.ts';
import { GatewayError } from '../http/gatewayError.ts';
import { Components } from './components.ts';
import { documentedRequest } from './documentedRequest.ts';
import {
  errorResponses,
  schemesFor,
  successResponses,
  type DocumentedService,
} from './documentedResponses.ts';
import { createErrorSchemas } from './errorSchemas.ts';
import { withItemSchema } from './events.ts';

/** An OpenAPI document, as JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

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

type PathItems = Record<string, Record<string, oas31.OperationObject>>;

/** The OpenAPI document of a router. It is created once, on first use. */
export interface LazyDocument {
  readonly value: () => Promise<OpenApiDocument>;
  /** Returns the response at the document's path. */
  readonly response: () => Promise<HttpResponse>;
}

export function lazyDocument(options: CreateDocumentOptions): LazyDocument {
  let created: OpenApiDocument | undefined;
  let json: string | undefined;
  const create = () => (created ??= createDocument(options));
  return {
    value: async () => create(),
    response: async () => ({
      status: 200,
      headers: [['content-type', 'application/json']],
      body: (json ??= JSON.stringify(create())),
    }),
  };
}

/**
 * Creates the OpenAPI document from the served operations, so that the document and the responses cannot differ.
 * @throws {GatewayError} if two different schemas have one id, or `document.transform` returns `undefined`
 */
function createDocument(service: CreateDocumentOptions): OpenApiDocument {
  const { operations, schemes, errorFormat } = service;
  const { openapi, title, version, description, license, tags } = service.document;
  const isLatest = openapi === '3.2';
  const components = new Components();
  // Inputs first: where an input and an output of one name differ, the input keeps the name.
  const requests = operations.map((operation) => documentedRequest(operation, components));
  const successes = operations.map((operation) => successResponses(operation, service, components));
  const errorSchemas = createErrorSchemas(operations, errorFormat, components);
  const paths: PathItems = {};
  for (const [index, operation] of operations.entries()) {
    const responses = { ...successes[index], ...errorResponses(operation, service, errorSchemas) };
    (paths[documentPath(operation.rest.path)] ??= {})[methodKey(operation, isLatest)] = {
      ...describeOperation(operation, schemes),
      ...requests[index],
      responses: isLatest ? withItemSchema(responses) : responses,
    };
  }
  const securitySchemes = Object.fromEntries(schemes.map(({ name, document }) => [name, document]));
  const document = {
    openapi: isLatest ? '3.2.0' : '3.1.0',
    info: { title, description, version, license },
    servers: [{ url: service.server }],
    tags,
    paths,
    components: { schemas: components.schemas, ...(schemes.length > 0 && { securitySchemes }) },
    // An explicit empty list states that no authentication is required.
    ...(schemes.length === 0 && { security: [] }),
  };
  // A copy, which `transform` may change: schemas have members in common.
  return transformDocument(JSON.parse(JSON.stringify(document)) as typeof document, service);
}

/** Returns the key of an operation in its path item. OpenAPI 3.1 has none for QUERY. */
const methodKey = ({ rest: { method } }: Operation, isLatest: boolean): string =>
  method === 'QUERY' && !isLatest ? 'x-query' : method.toLowerCase();

function describeOperation(
  { isPublic, procedure, rest }: Operation,
  schemes: readonly Scheme[],
): Omit<oas31.OperationObject, 'responses'> {
  const { deprecated = false, deprecation, operationId = procedure.path, summary, tags } = rest;
  const description = operationDescription(rest);
  const requirements = schemesFor(procedure, schemes).map(({ name }) => ({
    [name]: [...(procedure.scopes ?? [])],
  }));
  return {
    operationId,
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(tags && { tags: [...tags] }),
    ...((deprecated || deprecation) && { deprecated: true }),
    ...(deprecation?.sunset && { 'x-sunset': deprecation.sunset.toISOString().slice(0, 10) }),
    ...(schemes.length > 0 && { security: isPublic ? [] : requirements }),
  };
}

/**
 * Applies `document.transform`.
 * @throws {GatewayError} if it returns `undefined`
 */
function transformDocument(
  document: OpenApiDocument & { readonly paths: PathItems },
  { document: { transform } }: CreateDocumentOptions,
): OpenApiDocument {
  if (transform === undefined) return document;
  const changed = transform(document as unknown as oas31.OpenAPIObject) as unknown;
  if (changed === undefined) {
    throw new GatewayError('document.transform returned undefined. Return the document.');
  }
  return changed as OpenApiDocument;
}
