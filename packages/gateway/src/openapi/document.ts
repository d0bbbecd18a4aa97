import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument } from 'trpc-to-openapi';
import { z } from 'zod';
import type {
  oas31,
  ZodOpenApiContentObject,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import type { OpenApiDocument } from './documentOptions.ts';
import { idempotencyKeyPattern } from '../policies/idempotencyKey.ts';
import type { Limits } from '../policies/limits.ts';
import type { DocumentOptions } from './documentOptions.ts';
import { statusText } from '../http/statusText.ts';
import { computedHeaders } from './computedHeaders.ts';
import { unwrap } from './convert.ts';
import type { ErrorFormat } from './errorFormat.ts';
import { isZod } from '../procedures/isZod.ts';
import { operationDescription } from './operationDescription.ts';
import type { Parameter, Route, RouteOutput } from './route.ts';

type Headers = Record<string, oas31.HeaderObject>;

export interface CreateDocumentOptions {
  readonly routes: readonly Route[];
  readonly document: DocumentOptions;
  /** The URL that paths are below. */
  readonly server: string;
  /** Whether operations ask for a credential, unless they are public. */
  readonly isProtected: boolean;
  readonly isRateLimited: boolean;
  /** Whether one client address may only try so many bad credentials. */
  readonly limitsAttempts: boolean;
  readonly limits: Limits;
  readonly errorFormat: ErrorFormat;
}

const scheme = 'bearer';

/**
 * The OpenAPI 3.1 document. The operations are written from the routes that serve them, so that what is documented and
 * what is answered cannot differ; trpc-to-openapi's generator puts them together.
 */
export function createDocument(router: AnyTRPCRouter, options: CreateDocumentOptions): OpenApiDocument {
  const { title, version, description, license, tags } = options.document;
  const document = withDateFormat(options.routes, () =>
    generateOpenApiDocument(router, {
      title,
      version,
      ...(description !== undefined && { description }),
      baseUrl: options.server,
      // Its own reading of the procedures gives every answer 200, adds 403, and takes away the bodies' names (3.3.0).
      filter: () => false,
      paths: paths(options),
      securitySchemes: options.isProtected
        ? { [scheme]: { type: 'http', scheme: 'bearer', description: 'The API key, as a bearer token.' } }
        : {},
    }),
  );
  return {
    ...document,
    ...(license && { info: { ...document.info, license } }),
    // Said aloud: without it a reader cannot tell "none" from "forgotten".
    ...(!options.isProtected && { security: [] }),
    ...(tags && { tags }),
  };
}

function paths(options: CreateDocumentOptions): ZodOpenApiPathsObject {
  const all: ZodOpenApiPathsObject = {};
  for (const route of options.routes) {
    const path = (all[route.rest.path] ??= {});
    path[method(route)] = operation(route, options);
  }
  return all;
}

/**
 * Runs `generate` while each date of the routes' schemas carries `format: date-time` (RFC 3339) in zod's registry, unless
 * its metadata names another format. trpc-to-openapi 3.3 hands no `override` to zod-openapi, which describes a date
 * as a string. Afterwards the registry is as it was: the user's schemas do not change.
 */
function withDateFormat<Generated>(routes: readonly Route[], generate: () => Generated): Generated {
  const registry = z.globalRegistry;
  const dates = new Map(
    [...datesOf(routes)].map((date) => [date, registry.has(date) ? registry.get(date) : undefined]),
  );
  for (const date of dates.keys()) registry.add(date, { format: 'date-time', ...registry.get(date) });
  try {
    return generate();
  } finally {
    for (const [date, metadata] of dates) {
      registry.remove(date);
      if (metadata) registry.add(date, metadata);
    }
  }
}

/** Every `z.date()` in the inputs and outputs of some routes. */
function datesOf(routes: readonly Route[]): Set<z.core.$ZodType> {
  const dates = new Set<z.core.$ZodType>();
  const schemas = routes.flatMap(({ inputs, output }) => [
    ...inputs.filter(isZod),
    ...('schema' in output ? [output.schema] : []),
  ]);
  for (const schema of schemas) {
    for (const io of ['input', 'output'] as const) {
      z.toJSONSchema(schema, {
        io,
        unrepresentable: 'any',
        override({ zodSchema }) {
          if (zodSchema._zod.def.type === 'date') dates.add(zodSchema);
        },
      });
    }
  }
  return dates;
}

const method = ({ rest }: Route) => rest.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';

function operation(route: Route, options: CreateDocumentOptions): ZodOpenApiOperationObject {
  const { rest, body } = route;
  const { summary, tags, deprecation } = rest;
  const description = operationDescription(rest);
  const header = requestHeaders(route);
  return {
    operationId: route.operationId,
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(tags && { tags: [...tags] }),
    ...((rest.deprecated || deprecation) && { deprecated: true }),
    ...(deprecation?.sunset && { 'x-sunset': deprecation.sunset.toISOString().slice(0, 10) }),
    ...(options.isProtected && { security: route.isPublic ? [] : [{ [scheme]: [] }] }),
    requestParams: {
      ...(route.pathParameters.length > 0 && { path: parameters(route.pathParameters) }),
      ...(route.queryParameters.size > 0 && { query: queryObject(route) }),
      ...(header && { header }),
    },
    ...(body && {
      requestBody: {
        required: body.required,
        content: Object.fromEntries(body.contentTypes.map((type) => [type, { schema: bodySchema(route) }])),
      },
    }),
    responses: { ...successes(route, options), ...errors(route, options) },
  };
}

/**
 * The headers that an operation reads, as the metadata says, the `Idempotency-Key` where it takes one, and the
 * `Last-Event-ID` of a subscription that can go on.
 */
function requestHeaders({ rest, output, queryParameters }: Route): z.ZodObject | undefined {
  let headers = rest.requestHeaders;
  const add = (name: string, schema: z.ZodString, description: string) => {
    headers = (headers ?? z.object({})).extend({ [name]: schema.optional().meta({ description }) });
  };
  if (rest.idempotencyKey) {
    const description =
      'Repeats of a request under one key, for 24 hours, change nothing (IETF httpapi draft -07).';
    add('Idempotency-Key', z.string().regex(idempotencyKeyPattern), description);
  }
  if (output.kind === 'events' && queryParameters.has('lastEventId')) {
    add('Last-Event-ID', z.string(), 'The id of the last event that came: the stream goes on after it.');
  }
  return headers;
}

const parameters = (list: readonly Pick<Parameter, 'name' | 'schema'>[]) =>
  z.object(Object.fromEntries(list.map(({ name, schema }) => [name, schema as z.ZodType])));

/** Where the input as a whole may be absent, so may each parameter: OpenAPI cannot say "all of them or none". */
function queryObject({ queryParameters, isInputOptional }: Route): z.ZodObject {
  const list = [...queryParameters.values()];
  if (!isInputOptional) return parameters(list);
  const absent = list.map(({ name, schema }) => {
    const { id: _named, ...described } = z.globalRegistry.get(schema) ?? {};
    return { name, schema: z.optional(schema).meta(described) };
  });
  return parameters(absent);
}

/** The body's schema: the input itself where it is just that, so that its name survives. */
function bodySchema({ inputs, pathParameters, body }: Route): z.ZodType {
  const [input] = inputs;
  return inputs.length === 1 && pathParameters.length === 0 && isZod(input)
    ? (withoutNull(input) as z.ZodType)
    : z.object(body?.shape as Record<string, z.ZodType>);
}

/** What the innermost `.nullable()` of an input wraps: `null` names no parameters, so no request can send it as the input. */
function withoutNull(input: z.core.$ZodType): z.core.$ZodType {
  let found = input;
  for (let inner: z.core.$ZodType | undefined = input; inner;) {
    const next = unwrap(inner);
    if (next && inner._zod.def.type === 'nullable') found = next;
    inner = next;
  }
  return found;
}

function successes(route: Route, { isRateLimited }: CreateDocumentOptions): ZodOpenApiResponsesObject {
  const { rest } = route;
  const headers: Headers = {
    ...requestIdHeader,
    ...(isRateLimited && rateLimitHeaders),
    ...deprecationHeaders(route, rest.pagination !== undefined),
  };
  for (const [name, { description }] of computedHeaders(rest)) headers[name] = { description, schema: text };
  if (isZod(rest.responseHeaders)) {
    for (const [name, schema] of Object.entries(rest.responseHeaders.shape)) {
      headers[name] = { description: schema.description ?? name, schema: text };
    }
  }
  if (rest.idempotencyKey) {
    headers['Idempotent-Replayed'] = { description: '`true` where an earlier request did it.', schema: text };
  }

  return Object.fromEntries(
    route.statuses.map((status) => {
      const isRedirect = status >= 300 && status <= 399;
      const location = { description: 'Where to go.', required: true, schema: text };
      return [
        String(status),
        {
          description:
            rest.successDescription ??
            (route.output.kind === 'events' ? eventsDescription : statusText(status)),
          headers: isRedirect ? { ...headers, Location: location } : headers,
          ...(status !== 204 && !isRedirect && { content: content(route.output) }),
        },
      ];
    }),
  );
}

function content(output: RouteOutput): ZodOpenApiContentObject {
  if (output.kind === 'json') return { 'application/json': { schema: output.schema } };
  // Bytes that are not encoded have no schema (OpenAPI 3.1 §4.8.14.3).
  if (output.kind === 'bytes') return { [output.contentType]: {} };
  // OpenAPI 3.1 has no word for the items of a stream: by custom the schema is that of an event's data.
  return { 'text/event-stream': { schema: output.schema } };
}

const eventsDescription =
  'Server-sent events (WHATWG HTML §9.2): `data` is JSON of this schema, `id` is there where an event has one. At the ' +
  'end comes `event: end`; where it fails, in its place, `event: error` with the body of the error.';

function errors(route: Route, options: CreateDocumentOptions): ZodOpenApiResponsesObject {
  const { errorFormat, isProtected, isRateLimited, limits } = options;
  const { pathParameters, queryParameters, body, rest } = route;
  const descriptions = new Map<number, string>();
  if (pathParameters.length + queryParameters.size > 0 || body)
    descriptions.set(400, 'The input is not valid; the message names each field.');
  if (isProtected && !route.isPublic) descriptions.set(401, 'The credential is missing or not valid.');
  if (pathParameters.some(({ converter }) => converter.integer))
    descriptions.set(404, 'There is nothing with this identifier.');
  if (body) {
    descriptions.set(413, 'The body is too large.');
    descriptions.set(415, `The body is not ${body.contentTypes.join(' or ')}.`);
  }
  if (rest.idempotencyKey) descriptions.set(422, 'The Idempotency-Key was used with another input.');
  const chargesAttempts = options.limitsAttempts && isProtected && !route.isPublic;
  if (isRateLimited || chargesAttempts) descriptions.set(429, tooMany(isRateLimited, chargesAttempts));
  descriptions.set(500, 'The service failed.');
  if (limits.maxInFlight !== Infinity) descriptions.set(503, 'The service runs as many calls as it may.');
  if (limits.callTimeoutMs !== Infinity)
    descriptions.set(504, 'The call took too long: whether it had an effect is unknown.');
  const { errorResponses = [] } = rest;
  const named = Array.isArray(errorResponses)
    ? errorResponses.map((status) => [String(status), statusText(status)] as const)
    : Object.entries(errorResponses);
  for (const [status, description] of named) descriptions.set(Number(status), description);

  return Object.fromEntries(
    [...descriptions]
      .toSorted(([a], [b]) => a - b)
      .map(([status, description]) => [
        String(status),
        {
          description,
          headers: {
            ...requestIdHeader,
            ...errorHeaders[status],
            ...(status === 429 && isRateLimited && rateLimitHeaders),
            ...(status === 404 && deprecationHeaders(route, false)),
          },
          content: { [errorFormat.contentType]: { schema: errorFormat.schema } },
        },
      ]),
  );
}

const text = { type: 'string' as const };

const requestIdHeader: Headers = {
  'X-Request-Id': { description: 'Names this request in the logs.', required: true, schema: text },
};

const retryAfter: Headers = {
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'integer' },
  },
};

const tooMany = (isRateLimited: boolean, chargesAttempts: boolean) =>
  [
    ...(isRateLimited ? ['More calls came than the rate limit allows.'] : []),
    ...(chargesAttempts ? ['Too many credentials that are not valid came from this address.'] : []),
  ].join(' ');

/** IETF draft-ietf-httpapi-ratelimit-headers-10. Not said of a 429 for bad credentials, which no caller is counted by. */
const rateLimitHeaders: Headers = {
  RateLimit: {
    description: 'How many calls are left (`r`), and in how many seconds all are again (`t`).',
    schema: text,
  },
  'RateLimit-Policy': {
    description: 'How many calls may be made (`q`) in how many seconds (`w`).',
    schema: text,
  },
};

const errorHeaders: Readonly<Record<number, Headers>> = {
  401: {
    'WWW-Authenticate': { description: 'How to authenticate (RFC 6750).', required: true, schema: text },
  },
  429: retryAfter,
  503: retryAfter,
};

/** What 2xx and 404 say of the operation's future, and, of a list, where it goes on. */
function deprecationHeaders({ rest: { deprecation } }: Route, isList: boolean): Headers {
  const links = [
    ...(isList ? ['`rel="next"` where a further page exists (RFC 8288).'] : []),
    ...(deprecation?.successor
      ? ['`rel="successor-version"`: what replaces this operation (RFC 5829).']
      : []),
    ...(deprecation?.documentation ? ['`rel="deprecation"`: a page about its end (RFC 9745).'] : []),
  ];
  return {
    ...(links.length > 0 && { Link: { description: links.join(' '), schema: text } }),
    ...(deprecation && {
      Deprecation: {
        description: 'When this operation was deprecated (RFC 9745).',
        required: true,
        schema: text,
      },
    }),
    ...(deprecation?.sunset && {
      Sunset: { description: 'When this operation is removed (RFC 8594).', required: true, schema: text },
    }),
  };
}
