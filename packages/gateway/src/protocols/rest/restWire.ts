import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { after, isThenable } from '../../http/after.ts';
import { Answer } from '../../http/answer.ts';
import type { Calls } from '../../policies/calls.ts';
import { Failed } from '../../procedures/failed.ts';
import type { CallScope } from '../../policies/callScope.ts';
import type { CredentialWatch } from '../../policies/credentialWatch.ts';
import type { Target } from '../../policies/policy.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import { discardStream, isBodyStream } from '../../http/response.ts';
import { ServerSentEvents, type EventStreamTimes } from '../../http/serverSentEvents.ts';
import { idempotencyKey } from '../../policies/idempotencyKey.ts';
import type { Limits } from '../../policies/limits.ts';
import type { ContextOptions } from '../../procedures/contextOptions.ts';
import { parseFunction, type Parser } from '../../procedures/parseFunction.ts';
import type { Protocol } from '../protocol.ts';
import type { RestResponseMeta } from './responseMeta.ts';
import { byteBody } from './byteBody.ts';
import { deprecationHeaders, type LinkBase } from '../../openapi/deprecationHeaders.ts';
import type { Failure } from './failure.ts';
import { createPathMatcher, type PathMatch } from './matchPath.ts';
import { mediaType } from './mediaType.ts';
import { readInput, type RawBody, type RawInput } from './readInput.ts';
import { awaitFirst, eventsOf, ping, RestEventFormat } from './restEvents.ts';
import type { BodyShape, Route } from '../../openapi/route.ts';
import { type Content, createSuccess, type Success } from './success.ts';

/** What a REST request names. */
export interface RestTarget extends Target {
  readonly match: PathMatch<Resource> | undefined;
  readonly operation: Operation | undefined;
}

export interface RestWireOptions<Identity> extends EventStreamTimes {
  readonly routes: readonly Route[];
  readonly base: LinkBase;
  /** The length of the base path, which `request.path` starts with. */
  readonly basePathLength: number;
  readonly limits: Limits;
  readonly calls: Calls;
  readonly watch: CredentialWatch;
  readonly createContext: (options: ContextOptions<Identity>) => unknown;
  readonly failure: Failure;
  readonly responseMeta: RestResponseMeta | undefined;
}

/** What answers at one path. */
interface Resource {
  readonly operations: Map<string, Operation>;
  /** The value of `Allow`. */
  allow: string;
}

interface Operation {
  readonly route: Route;
  readonly success: Success;
  /** Checks an event of a subscription. */
  readonly parseEvent: ((event: unknown) => unknown) | undefined;
  /** The headers that 2xx and 404 carry alike. */
  readonly deprecation: readonly [string, string][];
}

/**
 * The REST protocol of a router. A request is checked in this order, and the first problem is the response: credential
 * (401), path (404), method (405), media type (415), size (413), input (400).
 */
export function createRestWire<Identity>(options: RestWireOptions<Identity>): Protocol<Identity, RestTarget> {
  const { calls, createContext, failure, limits, responseMeta } = options;
  const matcher = createMatcher(options);

  const fail = (code: TRPCError['code'], message: string, headers?: [string, string][]) =>
    failure(new TRPCError({ code, message }), headers);

  const nowhere = () => fail('NOT_FOUND', 'There is no operation at this path.');

  return {
    target(request) {
      const match = matcher.match(request.path.slice(options.basePathLength));
      const operation = match?.value.operations.get(request.method === 'HEAD' ? 'GET' : request.method);
      return { match, operation, calls: 1, isPublic: operation?.route.isPublic === true };
    },
    options: (_request, { match }) => (match ? new Answer(204, [['allow', match.value.allow]]) : nowhere()),
    respond: (scope, { match, operation }) => respond(match, operation, scope),
    reject: (error) => failure(error),
  };

  function respond(
    match: PathMatch<Resource> | undefined,
    operation: Operation | undefined,
    scope: RequestScope<Identity>,
  ): Answer | Promise<Answer> {
    if (match === undefined) return nowhere();
    if (operation !== undefined) return serve(operation, match, scope);
    const { allow } = match.value;
    return fail('METHOD_NOT_SUPPORTED', `This path takes ${allow}.`, [['allow', allow]]);
  }

  function serve(
    operation: Operation,
    match: PathMatch<Resource>,
    scope: RequestScope<Identity>,
  ): Answer | Promise<Answer> {
    const { parameters } = match;
    const { request } = scope;
    const { query } = request;
    const { body } = operation.route;
    if (body === undefined) {
      const lastEventId =
        operation.route.output.kind === 'events' ? request.header('last-event-id') : undefined;
      return call(operation, scope, { parameters, query, body, lastEventId });
    }

    const contentType = request.header('content-type');
    if (contentType === undefined && !body.required) {
      // A body that may be left out has no type then. Whether it was left out shows when it ends: it may be chunked.
      return withBody(request, (bytes) =>
        bytes.byteLength === 0
          ? call(operation, scope, { parameters, query, body: undefined })
          : unsupported(body),
      );
    }
    if ((request.header('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
      return fail('UNSUPPORTED_MEDIA_TYPE', 'The body must come as it is, without a Content-Encoding.');
    }
    const media = mediaType(contentType);
    if (media === undefined || !body.contentTypes.includes(media.essence)) return unsupported(body);
    if (media.charset !== undefined && media.charset !== 'utf-8') {
      return fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
    }
    return withBody(request, (bytes) =>
      bytes.byteLength === 0 && !body.required
        ? call(operation, scope, { parameters, query, body: undefined })
        : after(rawBody(media.essence, contentType ?? '', bytes), (raw) =>
            raw === undefined
              ? fail('BAD_REQUEST', 'The body is not valid multipart/form-data.')
              : call(operation, scope, { parameters, query, body: raw }),
          ),
    );
  }

  function withBody(
    request: HttpRequest,
    next: (bytes: Uint8Array<ArrayBuffer>) => Answer | Promise<Answer>,
  ): Answer | Promise<Answer> {
    const bytes = request.bodyNow?.(limits.maxBodyBytes);
    if (bytes) return next(bytes);
    return request.body(limits.maxBodyBytes).then(next, (cause: unknown) => failure(bodyError(cause)));
  }

  function unsupported({ contentTypes }: BodyShape): Answer {
    return fail('UNSUPPORTED_MEDIA_TYPE', `The body's Content-Type must be ${contentTypes.join(' or ')}.`);
  }

  function call(
    operation: Operation,
    scope: RequestScope<Identity>,
    raw: RawInput,
  ): Answer | Promise<Answer> {
    const { route, success } = operation;
    const { identity, reply, request, requestId, token } = scope;
    const input = () => readInput(route, raw, limits);
    let ctx: unknown;
    const begin = () => {
      const context = createContext({
        request,
        identity,
        reply,
        requestId,
        idempotencyKey: route.rest.idempotencyKey ? idempotencyKey(request) : undefined,
        info: undefined,
      });
      if (isThenable(context)) {
        return Promise.resolve(context).then((made) => {
          ctx = made;
          return route.call(made, input, scope.signal);
        });
      }
      ctx = context;
      return route.call(context, input, scope.signal);
    };
    const succeed = (found: unknown, content?: Content) => {
      const answer = success(found, reply, raw, content);
      answer.operation = route.procedurePath;
      return responseMeta === undefined
        ? answer
        : responseMeta(answer, {
            path: route.procedurePath,
            ctx,
            output: found,
            isStream: content !== undefined,
          });
    };
    const onFailure = (cause: unknown) => failed(operation, request, cause, ctx);
    try {
      const output = calls.begin(route.procedurePath, scope, begin);
      if (output instanceof Failed) return onFailure(output.error);
      if (route.output.kind === 'json' && !(output instanceof Promise)) return succeed(output);
      if (route.output.kind === 'json') {
        return calls.waitFor(
          scope,
          output as Promise<unknown>,
          (found) => {
            if (found instanceof Failed) return onFailure(found.error);
            try {
              return succeed(found);
            } catch (cause) {
              return onFailure(cause);
            }
          },
          onFailure,
        );
      }
      const pending = output instanceof Promise ? calls.waitPromise<unknown>(scope, output) : output;
      return stream(operation, scope, token, pending, succeed).catch(onFailure);
    } catch (cause) {
      return onFailure(cause);
    }
  }

  /** Answers with bytes or events. */
  async function stream(
    { route, parseEvent }: Operation,
    scope: CallScope,
    token: string | undefined,
    pending: unknown,
    succeed: (output: unknown, content?: Content) => Answer,
  ): Promise<Answer> {
    scope.follow();
    const output = await pending;
    if (output instanceof Failed) throw output.error;
    let content: Content | undefined;
    let answer: Answer | undefined;
    try {
      if (parseEvent === undefined) {
        if (route.output.kind === 'bytes') content = byteBody(output, route.output.contentType);
        return succeed(output, content);
      }
      const { events, hasBegun } = await awaitFirst(eventsOf(output, scope.signal));
      const format = new RestEventFormat({
        // uWebSockets.js sends the head with the first bytes of the body.
        start: hasBegun ? '' : ping,
        parse: parseEvent,
        maxEventBytes: limits.maxResponseBytes,
        reportError(cause) {
          const { body, error, limit } = failure(cause);
          if (answer) Object.assign(answer, { error, limit });
          // Errors are answered with JSON text.
          return body as string;
        },
      });
      const body = new ServerSentEvents(events, format, {
        pingMs: options.pingMs,
        maxDurationMs: options.maxDurationMs,
        watch: (onRevoked) => options.watch(token, scope.request, onRevoked),
        abort: () => scope.abort(),
      });
      content = { headers: eventHeaders, body };
      answer = succeed(undefined, content);
      return answer;
    } catch (cause) {
      // The stream has begun, and is not sent.
      if (isBodyStream(content?.body)) void discardStream(content.body);
      else if (parseEvent) scope.abort();
      throw cause;
    }
  }

  function failed(operation: Operation, request: HttpRequest, cause: unknown, ctx: unknown): Answer {
    const path = operation.route.procedurePath;
    // Nobody is there to be told, and nothing failed but the connection.
    const error = request.isAborted ? clientClosed(cause) : getTRPCErrorFromUnknown(cause);
    const answer = failure(error, error.code === 'NOT_FOUND' ? operation.deprecation : []);
    answer.operation = path;
    if (responseMeta === undefined || request.isAborted) return answer;
    try {
      return responseMeta(answer, { path, ctx, error });
    } catch (broken) {
      const instead = failure(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: broken }));
      instead.operation = path;
      return instead;
    }
  }
}

/** As tRPC's own: proxies are to hand events on as they come. */
const eventHeaders: Content['headers'] = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache, no-transform'],
  ['x-accel-buffering', 'no'],
];

const newResource = (): Resource => ({ operations: new Map(), allow: '' });

function createMatcher({ routes, base, limits }: Pick<RestWireOptions<never>, 'routes' | 'base' | 'limits'>) {
  const matcher = createPathMatcher<Resource>();
  for (const route of routes) {
    const { method, deprecation } = route.rest;
    const { output } = route;
    const { operations } = matcher.at(route.template, newResource);
    operations.set(method, {
      route,
      success: createSuccess(route, base, limits.maxResponseBytes),
      parseEvent: output.kind === 'events' ? parseFunction(output.schema as Parser) : undefined,
      deprecation: deprecationHeaders(deprecation, base),
    });
  }
  for (const { template } of routes) {
    const resource = matcher.at(template, newResource);
    resource.allow = allowed([...resource.operations.keys()]);
  }
  return matcher;
}

const allowed = (methods: readonly string[]) =>
  [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ');

function rawBody(
  type: string,
  contentType: string,
  bytes: Uint8Array<ArrayBuffer>,
): RawBody | Promise<RawBody | undefined> {
  if (type === 'application/json') return { kind: 'json', bytes };
  if (type !== 'multipart/form-data') return { kind: 'form', bytes };
  return multipartBody(contentType, bytes);
}

/** @returns `undefined` for what is none */
async function multipartBody(
  contentType: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<RawBody | undefined> {
  try {
    const fields = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
    return { kind: 'multipart', fields };
  } catch {
    return undefined;
  }
}

function bodyError(cause: unknown): TRPCError {
  return cause instanceof BodyTooLargeError
    ? new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: cause.message })
    : clientClosed(cause);
}

const clientClosed = (cause: unknown) =>
  new TRPCError({ code: 'CLIENT_CLOSED_REQUEST', message: 'The client went away.', cause });
