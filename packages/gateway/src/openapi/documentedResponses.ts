import type { oas31 } from 'zod-openapi';
import { statusText } from '../http/statusText.ts';
import type { Limits } from '../calls/limits.ts';
import { safeMethods } from '../auth/sameSite.ts';
import type { Scheme } from '../calls/scheme.ts';
import { isZod } from '../procedures/standardSchema.ts';
import type { ErrorFormat } from '../operations/errorFormat.ts';
import type { Operation } from '../operations/operation.ts';
import { statusHasBody, type OperationOutput } from '../operations/operationOutput.ts';
import type { Components } from './components.ts';
import { errorsDescription, type ErrorSchemas } from './errorSchemas.ts';
import { eventStream } from './events.ts';

/** The settings that all operations of a service share. */
export interface DocumentedService {
  /** The authentication schemes. Every operation that is not public requires one of them. */
  readonly schemes: readonly Scheme[];
  readonly isRateLimited: boolean;
  /** Whether `failedAttempts` limits invalid credentials. */
  readonly limitsAttempts: boolean;
  readonly limits: Limits;
  readonly errorFormat: ErrorFormat;
}

type Headers = Record<string, oas31.HeaderObject>;

type Responses = Record<string, oas31.ResponseObject>;

/** Returns the successful responses of an operation, by status. */
export function successResponses(
  operation: Operation,
  service: DocumentedService,
  components: Components,
): Responses {
  const { output, rest, statuses } = operation;
  const headers = documentedHeaders(operation, service);
  return Object.fromEntries(
    statuses.map((status) => {
      const isRedirect = status >= 300 && status <= 399;
      const hasBody = statusHasBody(status);
      const text =
        rest.successDescription ?? (output.kind === 'events' ? eventsDescription : statusText(status));
      const response = {
        description:
          hasBody && isUndescribed(output, status)
            ? `${text.replace(/\.$/, '')}. ${undescribedOutput}`
            : text,
        headers: isRedirect
          ? { ...headers, Location: requiredHeader('The URL that the client is redirected to.') }
          : headers,
        ...(hasBody && { content: responseContent(output, status, components) }),
      };
      return [status, response];
    }),
  );
}

/** Returns the error responses of an operation, by status. */
export function errorResponses(
  operation: Operation,
  service: DocumentedService,
  schemaOf: ErrorSchemas,
): Responses {
  const descriptions = errorDescriptions(operation, service);
  const statuses = new Set([...Object.keys(descriptions), ...[...operation.errors.keys()].map(String)]);
  return Object.fromEntries(
    Array.from(statuses, (status) => {
      const declared = operation.errors.get(Number(status)) ?? [];
      const otherErrors = descriptions[status];
      const response = {
        description: errorsDescription(declared, otherErrors),
        headers: {
          ...requestIdHeader,
          ...((status === '429' || status === '503') && retryAfterHeader),
          ...challengeHeaders(status, operation, service.schemes),
          ...(status === '429' && service.isRateLimited && rateLimitHeaders),
          ...(status === '404' && documentedDeprecation(operation, false)),
        },
        content: {
          [service.errorFormat.contentType]: {
            schema: schemaOf(operation, Number(status), otherErrors !== undefined),
          },
        },
      };
      return [status, response];
    }),
  );
}

function documentedHeaders(
  { computedHeaders, output, procedure, rest, successHeaders }: Operation,
  service: DocumentedService,
): Headers {
  const described = isZod(rest.responseHeaders) ? Object.entries(rest.responseHeaders.shape) : [];
  return {
    ...requestIdHeader,
    ...(output.kind === 'media' && { Vary: requiredHeader('`Accept` chooses the media type.') }),
    ...(service.isRateLimited && rateLimitHeaders),
    ...documentedDeprecation({ rest }, rest.pagination !== undefined),
    ...Object.fromEntries(
      computedHeaders.map(([name, { description }]) => [name, optionalHeader(description)]),
    ),
    ...Object.fromEntries(
      described.map(([name, schema]) => [name, optionalHeader(schema.description ?? name)]),
    ),
    ...(successHeaders.some(([name]) => name === 'accept-query') && {
      'Accept-Query': optionalHeader('The media types that QUERY accepts at this path (RFC 10008).'),
    }),
    ...((rest.idempotencyKey || procedure.idempotent) && {
      'Idempotent-Replayed': optionalHeader(
        '`true` if this request was already executed with the same Idempotency-Key.',
      ),
    }),
  };
}

function responseContent(
  output: OperationOutput,
  status: number,
  components: Components,
): oas31.ContentObject {
  if (output.kind === 'bytes') return { [output.contentType]: bytesContent };
  // OpenAPI 3.1 cannot describe the items of a stream. By convention, the schema describes the data of one event.
  if (output.kind === 'events')
    return { [eventStream]: { schema: components.write(output.schema, 'output') } };
  // Without a schema, an empty one, because generated clients return no value for a body without one.
  const schema = output.responses?.get(status)?.schema ?? output.schema ?? {};
  const json = { schema: components.write(schema, 'output') };
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

const isUndescribed = (output: OperationOutput, status: number): boolean =>
  (output.kind === 'json' || output.kind === 'media') &&
  (output.responses?.get(status)?.schema ?? output.schema) === undefined;

const undescribedOutput = 'JSON of the value that the procedure returns. No output schema describes it.';

const eventsDescription =
  'Server-sent events (WHATWG HTML §9.2). `data` is JSON of this schema; `id` is set if the event has one. The stream ends with `event: end`, or with `event: error` and the body of the error. After another end, connect again, with `Last-Event-ID` if events have one.';

/** Returns the error statuses of an operation, with descriptions. */
function errorDescriptions(
  { input, isPublic, output, procedure: { deadlineMs, idempotent, rateLimitCost, scopes }, rest }: Operation,
  { isRateLimited, limits, limitsAttempts, schemes }: DocumentedService,
): Readonly<Record<string, string | undefined>> {
  const { body, headers, path, query } = input;
  const hasCredential = schemes.length > 0 && !isPublic;
  const forbidden = [
    scopes && `The credential does not have all required scopes: ${scopes.join(' ')}.`,
    isGuarded(isPublic, rest, schemes) &&
      'A page of another site sent the request with a credential of its visitor.',
  ].filter((sentence) => typeof sentence === 'string');
  const tooMany = [
    isRateLimited &&
      rateLimitCost > 0 &&
      `The rate limit was exceeded.${rateLimitCost === 1 ? '' : ` A call counts as ${rateLimitCost}.`}`,
    limitsAttempts && hasCredential && 'Too many invalid credentials were sent from this address.',
  ].filter((sentence) => sentence !== false);
  const { errorResponses: extraErrors = {} } = rest;
  return {
    ...((path.length + query.size + headers.length > 0 || body) && {
      400: 'The input is not valid; the message names each invalid field.',
    }),
    ...(output.kind === 'media' && { 406: `Accept allows none of ${[...output.types.keys()].join(', ')}.` }),
    ...(hasCredential && { 401: 'The credential is missing or not valid.' }),
    ...(forbidden.length > 0 && { 403: forbidden.join(' ') }),
    ...(path.some(({ converter }) => converter.isInteger) && {
      404: 'There is no resource with this identifier.',
    }),
    ...(body && {
      413: 'The body is too large.',
      415: `The Content-Type of the body is not ${body.contentTypes.join(' or ')}.`,
    }),
    ...(idempotent && {
      400: 'The input or the Idempotency-Key is not valid; the message names each invalid field.',
      409: 'The first request with this Idempotency-Key is still running, or its response cannot be replayed.',
    }),
    ...((rest.idempotencyKey || idempotent) && {
      422: 'The Idempotency-Key was used with another input.',
    }),
    ...(tooMany.length > 0 && { 429: tooMany.join(' ') }),
    500: 'An unexpected error occurred.',
    ...(limits.maxInFlight !== Infinity && { 503: 'The service is at its limit of concurrent calls.' }),
    ...((deadlineMs ?? limits.callTimeoutMs) !== Infinity && {
      504: `The call timed out${deadlineMs === undefined ? '' : ` after ${deadlineMs} ms`}. Whether it had an effect is unknown.`,
    }),
    ...(Array.isArray(extraErrors)
      ? Object.fromEntries(extraErrors.map((status) => [status, statusText(status)]))
      : extraErrors),
  };
}

const optionalHeader = (description: string): oas31.HeaderObject => ({
  description,
  schema: { type: 'string' },
});
const requiredHeader = (description: string) => ({ ...optionalHeader(description), required: true });

const requestIdHeader: Headers = { 'X-Request-Id': requiredHeader('Identifies this request in the logs.') };

/** IETF draft-ietf-httpapi-ratelimit-headers-10. A 429 for invalid credentials does not have them. */
const rateLimitHeaders: Headers = {
  RateLimit: optionalHeader('The remaining calls (`r`), and the seconds until the limit is reset (`t`).'),
  'RateLimit-Policy': optionalHeader('The allowed calls (`q`) per window of seconds (`w`).'),
};

const retryAfterHeader: Headers = {
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'integer' },
  },
};

/** Returns the schemes that can call a procedure: if it requires scopes, only those with `scopes`. */
export const schemesFor = ({ scopes }: Operation['procedure'], schemes: readonly Scheme[]) =>
  schemes.filter((scheme) => scopes === undefined || scheme.scopes);

/** Whether an operation has CSRF protection: it rejects requests from pages of other sites. */
const isGuarded = (isPublic: boolean, { method }: Operation['rest'], schemes: readonly Scheme[]) =>
  !isPublic && !safeMethods.has(method) && schemes.some(({ isAmbient }) => isAmbient);

/** Returns the challenge header of a 401 or 403. It is optional if the procedure declares an error with this status. */
function challengeHeaders(status: string, operation: Operation, schemes: readonly Scheme[]): Headers {
  const challenge =
    status === '401'
      ? unauthorizedChallenge(schemes)
      : status === '403'
        ? scopeChallenge(operation, schemes)
        : undefined;
  if (challenge === undefined) return {};
  const isDeclared = operation.errors.has(Number(status));
  return { 'WWW-Authenticate': isDeclared ? { ...challenge, required: false } : challenge };
}

const unauthorizedChallenge = (schemes: readonly Scheme[]): oas31.HeaderObject =>
  requiredHeader(
    schemes.every(({ document }) => document['scheme'] === 'bearer')
      ? 'How to authenticate (RFC 6750).'
      : 'How to authenticate (RFC 9110 §11.6.1).',
  );

/** Returns the challenge header of a 403 for a missing scope. */
function scopeChallenge(
  { procedure }: Operation,
  schemes: readonly Scheme[],
): oas31.HeaderObject | undefined {
  const able = schemes.filter((scheme) => scheme.challenge({ error: 'insufficient_scope', scope: 'a' }));
  if (procedure.scopes === undefined || able.length === 0) return undefined;
  const description = 'The scopes that are required (RFC 6750).';
  // A scheme with CSRF protection has no such challenge, so a 403 without one cannot come from that.
  return able.length === schemes.length ? requiredHeader(description) : optionalHeader(description);
}

/** Returns the headers of 2xx and 404 for deprecation, and for the next page of a list. */
function documentedDeprecation({ rest: { deprecation } }: Pick<Operation, 'rest'>, isList: boolean): Headers {
  const links = [
    isList && '`rel="next"`: the next page, if there is one (RFC 8288).',
    deprecation?.successor && '`rel="successor-version"`: the replacement of this operation (RFC 5829).',
    deprecation?.documentation && '`rel="deprecation"`: a page about the deprecation (RFC 9745).',
  ].filter((link) => typeof link === 'string');
  return {
    ...(links.length > 0 && { Link: optionalHeader(links.join(' ')) }),
    ...(deprecation && { Deprecation: requiredHeader('When this operation was deprecated (RFC 9745).') }),
    ...(deprecation?.sunset && { Sunset: requiredHeader('When this operation is removed (RFC 8594).') }),
  };
}
