import type { oas31 } from 'zod-openapi';
import { statusText } from '../http/response.ts';
import { metadataOf } from '../schemas/zodSchema.ts';
import type { Limits } from '../calls/limits.ts';
import { isFormType } from '../auth/crossSite.ts';
import { safeMethods } from '../auth/origins.ts';
import type { Scheme } from '../calls/scheme.ts';
import type { Deprecation } from '../procedures/meta.ts';
import type { ErrorFormat } from '../operations/errorFormat.ts';
import type { Operation } from '../operations/operation.ts';
import { statusHasBody, type OperationOutput } from '../operations/operationOutput.ts';
import { isVoid } from '../schemas/schema.ts';
import type { Components, HeaderObject } from '../schemas/components.ts';
import { errorsDescription, type ErrorSchemas } from './errorSchemas.ts';
import { declaresResync, eventStream } from './events.ts';

export interface DocumentedService {
  /** The authentication schemes. Every operation that is not public requires one of them. */
  readonly schemes: readonly Scheme[];
  /** The schemes that the router itself authenticates with, by name. Read only without `schemes`. */
  readonly securitySchemes: Readonly<Record<string, oas31.SecuritySchemeObject>> | undefined;
  readonly isRateLimited: boolean;
  /** Whether `failedAttempts` limits invalid credentials. */
  readonly limitsAttempts: boolean;
  readonly limits: Limits;
  readonly errorFormat: ErrorFormat;
}

/** A header, an absent one (`undefined`), or headers by name. */
type Headers = Record<string, HeaderObject | undefined>;

/** A response in the document. JSON leaves out its absent members. */
interface DocumentedResponse {
  readonly description: string;
  readonly headers: Headers;
  readonly content?: oas31.ContentObject | undefined;
}

type Responses = Record<string, DocumentedResponse>;

export function successResponses(
  operation: Operation,
  service: DocumentedService,
  components: Components,
): Responses {
  const { output, rest, statuses } = operation;
  const headers = successHeaders(operation, service, components);
  const isUndescribed = (output.kind === 'json' || output.kind === 'media') && output.schema === undefined;
  return Object.fromEntries(
    statuses.map((status) => {
      const isRedirect = status >= 300 && status <= 399;
      const hasBody = statusHasBody(status);
      const text =
        rest.successDescription ??
        (output.kind === 'events' ? eventsDescription(operation) : statusText(status));
      const response = {
        description: hasBody && isUndescribed ? `${text.replace(/\.$/, '')}. ${undescribedOutput}` : text,
        headers: {
          ...headers,
          ...(isRedirect && { Location: header('The URL that the client is redirected to.', true) }),
        },
        content: hasBody ? responseContent(output, components) : undefined,
      };
      return [status, response];
    }),
  );
}

export function errorResponses(
  operation: Operation,
  service: DocumentedService,
  schemaOf: ErrorSchemas,
  components: Components,
): Responses {
  const descriptions = errorDescriptions(operation, service);
  const statuses = new Set([...Object.keys(descriptions).map(Number), ...operation.errors.keys()]);
  const responses: Responses = {};
  for (const status of statuses) {
    const declared = operation.errors.get(status) ?? [];
    const description = descriptions[status];
    if (description === undefined && declared.length === 0) continue;
    const schema = schemaOf(operation, status, description !== undefined);
    responses[status] = {
      description: errorsDescription(declared, description),
      headers: {
        ...components.sharedHeaders(requestIdHeader),
        ...((status === 429 || status === 503) && components.sharedHeaders(retryAfterHeader)),
        'WWW-Authenticate': challengeHeader(status, operation, service.schemes),
        ...(status === 429 && service.isRateLimited && components.sharedHeaders(rateLimitHeaders)),
        ...(status === 404 && deprecationHeaders(operation, false)),
      },
      content: { [service.errorFormat.contentType]: { schema } },
    };
  }
  return responses;
}

function successHeaders(operation: Operation, service: DocumentedService, components: Components): Headers {
  const { computedHeaders, output, procedure, rest } = operation;
  const { shape = {} } = rest.responseHeaders?._zod.def ?? {};
  const described = [
    ...Object.entries(shape).map(([name, schema]) => [name, metadataOf(schema)] as const),
    ...computedHeaders,
  ];
  const headers: Headers = {
    ...components.sharedHeaders(requestIdHeader),
    Vary: output.kind === 'media' ? header('`Accept` chooses the media type.', true) : undefined,
    ...(service.isRateLimited && components.sharedHeaders(rateLimitHeaders)),
    ...deprecationHeaders(operation, rest.pagination !== undefined),
    ...Object.fromEntries(described.map(([name, { description }]) => [name, header(description ?? name)])),
    ...(procedure.idempotencyKey && {
      'Idempotent-Replayed': header(
        '`true` if this request was already executed with the same Idempotency-Key.',
      ),
    }),
  };
  // Names of headers are the same in any case. The last one replaces those before it.
  return Object.fromEntries(
    new Map(Object.entries(headers).map((entry) => [entry[0].toLowerCase(), entry])).values(),
  );
}

function responseContent(output: OperationOutput, components: Components): oas31.ContentObject {
  if (output.kind === 'bytes') return { [output.contentType]: bytesContent };
  // Otherwise an empty schema: without one, clients return no value. For void too, as in trpc-to-openapi.
  const isDescribed = output.schema !== undefined && !isVoid(output.schema);
  const json = { schema: isDescribed ? components.write(output.schema, 'output') : {} };
  // OpenAPI 3.1 cannot describe the items of a stream. By convention, the schema describes the data of one event.
  if (output.kind === 'events') return { [eventStream]: json };
  if (output.kind === 'json') return { 'application/json': json };
  const types = [...output.types].map(([type, writer]) => {
    const other = type.startsWith('text/') ? { schema: { type: 'string' as const } } : bytesContent;
    return [type, writer === true ? json : other] as const;
  });
  return Object.fromEntries(types);
}

/**
 * The content of a body of bytes. OpenAPI 3.1 (§4.8.14.4) lets it be without a schema, but openapi-generator 7.26 (`typescript-fetch`)
 * then generates no client of the whole document, and openapi-python-client 0.29 leaves the operation out.
 */
export const bytesContent = { schema: { type: 'string', format: 'binary' } } as const;

const undescribedOutput = 'JSON of the value that the procedure returns. No output schema describes it.';

const eventsDescription = (operation: Operation): string =>
  `Server-sent events (WHATWG HTML §9.2). \`data\` is JSON of this schema; \`id\` is set if the event has one. The stream ends with \`event: end\`, or with \`event: error\` and the body of the error. After another end, connect again, with \`Last-Event-ID\` if events have one.${declaresResync(operation) ? ' So do after `event: resync` with the body of the error `RESYNC`, when you have loaded the data again, because events are missing.' : ''}`;

/** Returns the error statuses of an operation, with descriptions. One without a description does not occur. */
function errorDescriptions(
  { input, output, procedure, rest }: Operation,
  { isRateLimited, limits, limitsAttempts, schemes, securitySchemes }: DocumentedService,
): Readonly<Record<number, string | undefined>> {
  const { body, headers, path, query } = input;
  const { callTimeoutMs, idempotencyKey, isPublic, isReplayed, rateLimitCost, scopes } = procedure;
  const hasCredential = schemes.length > 0 && !isPublic;
  // In a middleware, by schemes that the gateway only documents.
  const isCheckedByRouter = schemes.length === 0 && securitySchemes !== undefined && !isPublic;
  // Other requests of pages need a preflight, which `cors` answers.
  const isForm =
    rest.method === 'POST' && !(body?.required && body.contentTypes.every((type) => !isFormType(type)));
  const isChange = !safeMethods.has(rest.method);
  const isGuarded =
    !isPublic && (schemes.length === 0 ? isForm : isChange && schemes.some((scheme) => scheme.isAmbient));
  const hasInput = path.length + query.size + headers.length > 0 || body;
  const { errorResponses: listed = {} } = rest;
  const when = (condition: unknown, description: string) => (condition ? description : undefined);
  return {
    400: when(
      hasInput || isReplayed,
      `The ${isReplayed ? 'input or the Idempotency-Key' : 'input'} is not valid; the message names each invalid field.`,
    ),
    401: when(hasCredential || isCheckedByRouter, 'The credential is missing or not valid.'),
    403: sentences(
      when(scopes, `The credential does not have all required scopes: ${scopes?.join(' ')}.`),
      when(isCheckedByRouter, 'The credential does not allow this call.'),
      when(isGuarded, 'A page of another site sent the request with a credential of its visitor.'),
    ),
    404: when(
      path.some(({ converter }) => converter.isInteger),
      'There is no resource with this identifier.',
    ),
    406:
      output.kind === 'media' ? `Accept allows none of ${[...output.types.keys()].join(', ')}.` : undefined,
    409: when(
      isReplayed,
      'The first request with this Idempotency-Key is still running, or its response cannot be replayed.',
    ),
    413: when(body, 'The body is too large.'),
    415: when(body, `The Content-Type of the body is not ${body?.contentTypes.join(' or ')}.`),
    422: when(idempotencyKey, 'The Idempotency-Key was used with another input.'),
    429: sentences(
      when(isRateLimited && rateLimitCost > 0, 'The rate limit was exceeded.'),
      when(isRateLimited && rateLimitCost > 1, `A call counts as ${rateLimitCost}.`),
      when(limitsAttempts && hasCredential, 'Too many invalid credentials were sent from this address.'),
    ),
    500: 'An unexpected error occurred.',
    503: when(limits.maxInFlight !== Infinity, 'The service is at its limit of concurrent calls.'),
    504: when(
      (callTimeoutMs ?? limits.callTimeoutMs) !== Infinity,
      `The call timed out${callTimeoutMs === undefined ? '' : ` after ${callTimeoutMs} ms`}. Whether it had an effect is unknown.`,
    ),
    ...(Array.isArray(listed)
      ? Object.fromEntries(listed.map((status) => [status, statusText(status)]))
      : listed),
  };
}

/** Joins sentences, and returns `undefined` if there are none. */
const sentences = (...all: readonly (string | undefined)[]) =>
  all.filter((sentence) => sentence !== undefined).join(' ') || undefined;

/** @param required `undefined` is OpenAPI's default: false */
const header = (description: string, required?: boolean) =>
  ({ description, schema: { type: 'string' }, required }) as oas31.HeaderObject;

const requestIdHeader = { 'X-Request-Id': header('Identifies this request in the logs.', true) };

/** IETF draft-ietf-httpapi-ratelimit-headers-11. A 429 for invalid credentials does not have them. */
const rateLimitHeaders = {
  RateLimit: header('The remaining calls (`r`), and the seconds until there are more (`t`).'),
  'RateLimit-Policy': header('The allowed calls (`q`) per window of seconds (`w`).'),
};

const retryAfterHeader: Record<string, HeaderObject> = {
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'integer' },
  },
};

/** Returns the schemes that can call a procedure: if it requires scopes, only those with `scopes`. */
export const schemesFor = ({ scopes }: Operation['procedure'], schemes: readonly Scheme[]) =>
  schemes.filter((scheme) => scopes === undefined || scheme.scopes);

/** Returns the challenge header of a 401 or 403. It is optional if the procedure declares an error with this status. */
function challengeHeader(
  status: number,
  { errors, procedure }: Operation,
  schemes: readonly Scheme[],
): oas31.HeaderObject | undefined {
  if (schemes.length === 0) return undefined;
  const isDeclared = errors.has(status);
  if (status === 401) {
    const isBearer = schemes.every(({ document }) => document['scheme'] === 'bearer');
    return header(`How to authenticate (RFC ${isBearer ? '6750' : '9110 §11.6.1'}).`, !isDeclared);
  }
  const able = schemes.filter((scheme) => scheme.challenge({ error: 'insufficient_scope', scope: 'a' }));
  if (status !== 403 || procedure.scopes === undefined || able.length === 0) return undefined;
  // A scheme with CSRF protection has no such challenge, so a 403 without one cannot come from that.
  const isAlways = able.length === schemes.length || undefined;
  return header('The scopes that are required (RFC 6750).', isDeclared ? false : isAlways);
}

/** Returns the headers of 2xx and 404 for deprecation, and for the next page of a list. */
function deprecationHeaders({ rest }: Operation, isList: boolean): Headers {
  const { since, sunset, successor, documentation }: Partial<Deprecation> = rest.deprecation ?? {};
  const links = sentences(
    isList ? '`rel="next"`: the next page, if there is one (RFC 8288).' : undefined,
    successor && '`rel="successor-version"`: the replacement of this operation (RFC 5829).',
    documentation && '`rel="deprecation"`: a page about the deprecation (RFC 9745).',
  );
  return {
    Link: links === undefined ? undefined : header(links),
    Deprecation: since && header('When this operation was deprecated (RFC 9745).', true),
    Sunset: sunset && header('When this operation is removed (RFC 8594).', true),
  };
}
