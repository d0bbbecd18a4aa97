import type { z } from 'zod';
import type { oas31 } from 'zod-openapi';
import { constantBody } from '../http/contentEncoder.ts';
import type { HttpResponse } from '../http/response.ts';
import { operationDescription } from '../operations/deprecation.ts';
import type { Operation } from '../operations/operation.ts';
import { documentPath } from '../operations/pathTemplate.ts';
import { idsIn, readZod } from '../schemas/readSchema.ts';
import { GatewayError } from '../checks/gatewayError.ts';
import type { MaybePromise } from '../http/maybePromise.ts';
import { Components } from '../schemas/components.ts';
import { documentedRequest } from './documentedRequest.ts';
import {
  errorResponses,
  schemesFor,
  successResponses,
  type DocumentedService,
} from './documentedResponses.ts';
import { createErrorSchemas } from './errorSchemas.ts';
import { declaresResync, withItemSchema } from './events.ts';

/** An OpenAPI document, as JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** Options of the OpenAPI document. */
export interface DocumentOptions {
  /** The path at which the document is served. Default: `/openapi.json`. */
  readonly path?: `/${string}`;
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  /** The license of the API: its name, and optionally its SPDX expression. */
  readonly license?: { readonly name: string; readonly identifier?: string };
  /** The OpenAPI version. `3.2` has its own field for server-sent events, but fewer tools support it. Default: `3.1`. */
  readonly openapi?: '3.1' | '3.2';
  /** The tags that group operations, with descriptions. */
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  /**
   * Returns the `operationId` of a procedure whose metadata has none, for generated clients. It must be unique. Default:
   * the procedure's path, such as `books.add`.
   * @example
   * operationId: (path) => path.replaceAll('.', '-')
   */
  readonly operationId?: (path: string) => string;
  /**
   * Documents how clients authenticate to a router that checks credentials in its own middlewares, by names of Security
   * Scheme Objects (OpenAPI 3.1 §4.8.27): in `components`, and as `security`, 401 and 403 of each operation without
   * `protect: false`. It checks nothing, and with the option `authentication` it is not read. Default: none.
   * @example
   * securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }
   */
  readonly securitySchemes?: Readonly<Record<string, oas31.SecuritySchemeObject>>;
  /** Returns the document to serve, changed or new. Runs once, on first request, and may be asynchronous. */
  readonly transform?: (document: oas31.OpenAPIObject) => MaybePromise<oas31.OpenAPIObject>;
}

export interface CreateDocumentOptions extends DocumentedService {
  readonly operations: readonly Operation[];
  readonly document: DocumentOptions;
  /** The base URL of all paths. */
  readonly server: string;
}

type PathItems = Record<string, Record<string, object>>;

/** Returns the OpenAPI document of a router, which is created once, on first use. */
export function lazyDocument(options: CreateDocumentOptions) {
  let created: Promise<OpenApiDocument> | undefined;
  let body: Uint8Array | undefined;
  const create = () =>
    (created ??= createDocument(options).catch((error: unknown) => {
      // The next request tries again.
      created = undefined;
      throw error;
    }));
  return {
    /** @throws {GatewayError} if two different schemas have one id (`.meta({ id })`) */
    checkIds: () => checkIds(options),
    value: create,
    /** Returns the response at the path of the document. */
    response: async (): Promise<HttpResponse> => ({
      status: 200,
      headers: [['content-type', 'application/json']],
      body: (body ??= constantBody(JSON.stringify(await create()))),
    }),
  };
}

/** Yields the ids of the schemas of an operation, with the schemas of zod that have them. */
const idsOf = ({ errors, inputs, output }: Operation) =>
  idsIn([
    ...inputs,
    'schema' in output ? output.schema : undefined,
    ...[...errors.values()].flat().map(({ data }) => data && readZod(data, 'output')),
  ]);

/** @throws {GatewayError} if two different schemas have one id (`.meta({ id })`) */
function checkIds(service: CreateDocumentOptions): void {
  const named = new Map<string, Map<z.core.$ZodType, Set<Operation>>>();
  for (const operation of service.operations) {
    for (const [id, parser] of idsOf(operation)) {
      const parsers = named.get(id) ?? new Map<z.core.$ZodType, Set<Operation>>();
      named.set(id, parsers.set(parser, (parsers.get(parser) ?? new Set()).add(operation)));
    }
  }
  // Only of these the contents are compared.
  const affected = new Set<Operation>();
  for (const parsers of named.values()) {
    if (parsers.size === 1) continue;
    for (const operations of parsers.values()) for (const operation of operations) affected.add(operation);
  }
  if (affected.size > 0)
    writeSchemas({ ...service, operations: service.operations.filter((each) => affected.has(each)) });
}

/** @throws {GatewayError} if schemas share an id, or `document.transform` returns `undefined` */
async function createDocument(service: CreateDocumentOptions): Promise<OpenApiDocument> {
  const { operations, schemes } = service;
  const securitySchemes =
    schemes.length === 0
      ? service.securitySchemes
      : Object.fromEntries(schemes.map(({ name, document }) => [name, document]));
  const {
    openapi,
    title,
    version,
    description,
    license,
    tags,
    transform = (same) => same,
  } = service.document;
  const isLatest = openapi === '3.2';
  const { components, errorSchemas, requests, successes } = writeSchemas(service);
  const paths: PathItems = {};
  for (const [index, operation] of operations.entries()) {
    const responses = {
      ...successes[index],
      ...errorResponses(operation, service, errorSchemas, components),
    };
    (paths[documentPath(operation.rest.path)] ??= {})[operation.rest.method.toLowerCase()] = {
      ...describeOperation(operation, service),
      ...requests[index],
      responses: isLatest ? withItemSchema(responses, declaresResync(operation)) : responses,
    };
  }
  // As JSON, which leaves out what is absent, and in a copy, which `transform` may change: schemas have members in common.
  const json = JSON.stringify({
    openapi: isLatest ? '3.2.0' : '3.1.0',
    info: { title, description, version, license },
    // An empty URL would be that of the document itself (RFC 3986 §5.2.2).
    servers: [{ url: service.server || '/' }],
    tags,
    paths,
    components: { schemas: components.schemas, headers: components.headers, securitySchemes },
    // An explicit empty list states that no authentication is required.
    security: securitySchemes === undefined ? [] : undefined,
  });
  const document: unknown = await transform(JSON.parse(json) as oas31.OpenAPIObject);
  if (document === undefined)
    throw new GatewayError('document.transform returned undefined. Return the document.');
  return document as OpenApiDocument;
}

/** Writes the schemas, which completes the components. @throws {GatewayError} if two share an id */
function writeSchemas(service: CreateDocumentOptions) {
  const { operations, errorFormat } = service;
  const ids = operations.flatMap((operation) => Array.from(idsOf(operation), ([id]) => id));
  const components = new Components(new Set(ids));
  const each = <Part>(write: (operation: Operation) => Part) =>
    operations.map((operation) => {
      components.owner = operation.procedure.path;
      return write(operation);
    });
  // Inputs first: where an input and an output of one name differ, the input keeps the name.
  const requests = each((operation) => documentedRequest(operation, components));
  const successes = each((operation) => successResponses(operation, service, components));
  const errorSchemas = createErrorSchemas(operations, errorFormat, components);
  return { components, errorSchemas, requests, successes };
}

/** `books.findAll` is "Find all" of "books": linters require a summary, and pages group by tags. */
function namesOf(path: string): { readonly summary: string; readonly tags?: readonly string[] } {
  const [tag = path, ...names] = path.split('.');
  const words = (names.length > 0 ? names.join(' ') : tag)
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    // An abbreviation: `PDFFile`.
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replaceAll(/\b[A-Z](?![A-Z\d])/g, (letter) => letter.toLowerCase());
  const summary = words.slice(0, 1).toUpperCase() + words.slice(1);
  return { summary, ...(names.length > 0 && { tags: [tag] }) };
}

function describeOperation(operation: Operation, { schemes, securitySchemes }: DocumentedService): object {
  const { operationId, procedure, rest } = operation;
  const { deprecation, deprecated = deprecation !== undefined } = rest;
  const byDefault = namesOf(procedure.path);
  const { summary = byDefault.summary, tags = procedure.meta?.openapi ? undefined : byDefault.tags } = rest;
  const scopes = procedure.scopes ?? [];
  const names =
    schemes.length === 0
      ? Object.keys(securitySchemes ?? {})
      : schemesFor(procedure, schemes).map(({ name }) => name);
  return {
    operationId,
    summary,
    description: operationDescription(rest),
    tags,
    deprecated: deprecated ? true : undefined,
    'x-sunset': deprecation?.sunset?.toISOString().slice(0, 10),
    security:
      names.length === 0 ? undefined : procedure.isPublic ? [] : names.map((name) => ({ [name]: scopes })),
  };
}
