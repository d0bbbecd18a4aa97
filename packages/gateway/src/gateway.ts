import { TRPCError, type AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import { createFetch, type Fetch } from './adapters/fetch/fetch.ts';
import { after, isThenable, type MaybePromise } from './http/after.ts';
import { ResponseDraft } from './http/responseDraft.ts';
import type { HttpRequest } from './http/request.ts';
import { requestId } from './http/requestId.ts';
import type { Header, HttpResponse } from './http/response.ts';
import type { Handle, RejectHttp, Service, Upgrade } from './http/service.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { apiErrors } from './openapi/errorFormat.ts';
import { createOperations, type Operation } from './openapi/operation.ts';
import type { GatewayOptions } from './options.ts';
import { authenticationPolicy, schemeIn, schemesOf } from './policies/authentication.ts';
import { Calls } from './policies/calls.ts';
import { createClientAddress } from './policies/clientAddress.ts';
import { clientTimeoutPolicy } from './policies/clientTimeout.ts';
import { concurrencyPolicy } from './policies/concurrency.ts';
import { corsPolicy, type DescribedHeaders } from './policies/cors.ts';
import { ErrorReporter, hookedCalls, hookResponse, withoutBody } from './policies/hooks.ts';
import { createCredentialWatch } from './policies/credentialWatch.ts';
import { createFailedAttempts } from './policies/failedAttempts.ts';
import { defaultBatchSize, limitsOf } from './policies/limits.ts';
import { Idempotency } from './policies/idempotency.ts';
import { loadSheddingPolicy } from './policies/loadShedding.ts';
import { admit, type Policy, type Target } from './policies/policy.ts';
import { createRateLimit, requireCosts } from './policies/rateLimit.ts';
import { Recorder } from './policies/requestRecord.ts';
import { RequestScope, type ProtocolName } from './policies/requestScope.ts';
import { allowOf, requireResponse, routeError, RouteTable, type Route } from './policies/routes.ts';
import { createSameSite } from './policies/sameSite.ts';
import type { ProtectedResource, Scheme } from './policies/scheme.ts';
import { allScopes, scopesPolicy } from './policies/scopes.ts';
import { securityHeadersPolicy } from './policies/securityHeaders.ts';
import { createSocketOrigins } from './policies/socketOrigins.ts';
import { loadTracing } from './policies/tracing.ts';
import { clientError } from './procedures/clientError.ts';
import { failureOf } from './procedures/execute.ts';
import { GatewayError } from './procedures/gatewayError.ts';
import { isZod } from './procedures/isZod.ts';
import { readProcedures, type Procedure, type ServedProcedure } from './procedures/procedures.ts';
import type { Protocol } from './protocols/protocol.ts';
import { createErrorResponse, type ErrorResponse } from './protocols/rest/errorResponse.ts';
import { createRestResponseMeta } from './protocols/rest/responseMeta.ts';
import { createRestProtocol } from './protocols/rest/restProtocol.ts';
import { createTrpcErrorResponse, type TrpcErrorResponse } from './protocols/trpc/errorResponse.ts';
import { eventTimes } from './protocols/trpc/eventsResponse.ts';
import { withSocketLimits, type RpcOptions, type TrpcSettings } from './protocols/trpc/options.ts';
import { TrpcProtocol } from './protocols/trpc/trpcProtocol.ts';
import { WebSockets } from './protocols/trpc/webSockets.ts';
import { requireOptions } from './requireOptions.ts';

/** What `serve` takes, and what a service needs of its gateway. */
export interface Gateway extends Service {
  /** Whether a path is below a base path, or that of the document or of one of `routes`. */
  readonly serves: (path: string) => boolean;
  readonly upgrade: Upgrade;
  readonly rejectHttp: RejectHttp;
  /**
   * Answers a WHATWG `Request` in this process: in route handlers, on runtimes other than Node, and in tests as the `fetch`
   * of a client. It has no WebSockets.
   */
  readonly fetch: Fetch;
  /** Every procedure of the router, in its order, those of lazy routers too. */
  readonly procedures: readonly ServedProcedure[];
  /** How many calls run now, on all protocols. */
  readonly callsInFlight: () => number;
  /** How many invalid tokens are remembered; 0 without `failedAttempts`. */
  readonly refusedTokens: () => number;
  /** Tells every WebSocket client to reconnect, as tRPC's adapter does: before a deploy, say. */
  readonly broadcastReconnect: () => void;
  /** The OpenAPI document of the procedures that carry REST metadata. It is made at the first call. */
  readonly document: () => Promise<OpenApiDocument>;
}

/**
 * Derives everything that follows from a router and its metadata once, and returns what an adapter serves, such as
 * `serve` of `@petstore/gateway/uws`. The router and its schemas are never changed. Unexpected errors are reported to
 * `onExchange`, or without it written to stderr. Over tRPC the router's own `errorFormatter` and `isDev` decide what a
 * client sees of an error: set `isDev: false`, and use `clientMessage` of `@petstore/gateway/meta`.
 * @throws {GatewayError} one line for each procedure that cannot be served: its name, why, and the fix
 */
export async function createGateway<Router extends AnyTRPCRouter, Identity>(
  options: GatewayOptions<Router, Identity>,
): Promise<Gateway> {
  requireOptions(options);
  const { errorFormat = apiErrors, router } = options;
  const schemes = schemesOf(options.authentication);
  const { documentPath, restBasePath, rpcBasePath } = pathsOf(options);
  const origin = publicOrigin(options.publicUrl, restBasePath);
  const limits = limitsOf(options);
  const socketOptions = withSocketLimits(options.sockets ?? {}, limits.maxBodyBytes);
  const isProtected = schemes.length > 0;
  const routes = new RouteTable<Identity>(options.routes ?? {});
  const { onCall, onError, onRequest, onResponse } = options;
  const reporter = onError && new ErrorReporter(onError);
  const rpc = {
    ...options.rpc,
    ...(reporter && {
      onError: reportedToBoth(reporter, options.rpc?.onError as RpcOptions<AnyTRPCRouter>['onError']),
    }),
    maxBatchSize: Math.min(options.rpc?.maxBatchSize ?? defaultBatchSize, limits.maxInFlight),
  };

  const definitions = await readProcedures(router);
  const scopes = allScopes(definitions, schemes);
  if (!isProtected) routes.requireAuthentication();
  requireFreePaths(routes, documentPath, rpcBasePath, definitions);
  const routeMethods = routes.methods;
  routes.add(documentPath, {
    handler: async () => ({
      status: 200,
      headers: [['content-type', 'application/json']],
      body: await (documentText ??= document().then((value) => JSON.stringify(value))),
    }),
  });
  for (const { protectedResource } of schemes) {
    if (protectedResource) addMetadata(routes, protectedResource, scopes);
  }
  const links = { origin, rest: `${origin}${restBasePath}` };
  const operations = createOperations(definitions, {
    basePath: restBasePath,
    links,
    isTaken: (path) => routes.has(path) || isBelow(path, rpcBasePath),
    jsonSchema: options.jsonSchema,
    canSpool: options.spool !== undefined,
  });

  const maxStreamBytes = Math.max(
    limits.maxBodyBytes,
    ...operations.map(({ input }) => input.body?.upload?.maxBytes ?? 0),
  );

  const calls = new Calls(limits, await loadTracing(), onCall && hookedCalls(onCall));
  const clientAddress = createClientAddress(options.trustProxy ?? []);
  const failedAttempts =
    options.failedAttempts && createFailedAttempts(options.failedAttempts, clientAddress);
  const rateLimit = options.rateLimit && createRateLimit(options.rateLimit, clientAddress);
  if (options.rateLimit) requireCosts(definitions, options.rateLimit.requests);
  const isIdempotent = definitions.some((definition) => definition.idempotencyKey);
  const idempotency = isIdempotent ? new Idempotency(options.idempotency ?? {}, limits) : undefined;
  const watch = createCredentialWatch();
  const ownOrigin = URL.canParse(origin) ? new URL(origin).origin : undefined;
  const isSameSite = createSameSite(options.cors?.credentials ? options.cors.origins : [], ownOrigin);

  // What happens to a request, in this order. Each call's own place in `calls`, its deadline and its trace come after.
  const policies: readonly Policy<Identity>[] = [
    ...(limits.maxQueueMs < Infinity ? [loadSheddingPolicy(limits.maxQueueMs)] : []),
    ...(isProtected ? [authenticationPolicy({ schemes, isSameSite, calls, failedAttempts })] : []),
    concurrencyPolicy(calls),
    ...(scopes.length > 0 ? [scopesPolicy] : []),
    ...(rateLimit ? [rateLimit] : []),
    clientTimeoutPolicy,
    securityHeadersPolicy(isProtected),
    ...(options.cors ? [corsPolicy(options.cors, describedHeaders(operations, schemes, routeMethods))] : []),
  ];
  const arriving = policies.filter((policy) => policy.arrive);
  const admitting = policies.filter((policy) => policy.admit);
  const completing = policies.filter((policy) => policy.complete);
  if (onResponse) completing.push(responseHook(onResponse, [...completing]));
  const recorder = new Recorder(
    options.onExchange,
    onError ? [] : options.rpc?.onError ? ['rest', 'other'] : ['rest', 'rpc', 'other'],
  );

  const errorResponse = reportedErrors(createErrorResponse(errorFormat), reporter, definitions);
  const trpcErrorResponse = reportedTrpcErrors(createTrpcErrorResponse(router), reporter);
  const rest = createRestProtocol({
    operations,
    links,
    basePathLength: restBasePath.length,
    limits,
    calls,
    watch,
    idempotency,
    createContext: options.createContext,
    spool: options.spool,
    errorResponse,
    responseMeta: rpc.responseMeta && createRestResponseMeta(router, rpc.responseMeta),
    ...eventTimes(router._def._config),
  });
  const trpcSettings: TrpcSettings = {
    config: router._def._config,
    basePath: rpcBasePath,
    rpc: rpc as RpcOptions<AnyTRPCRouter> & typeof rpc,
    limits,
    calls,
    procedures: new Map(definitions.map((definition) => [definition.path, definition])),
    watch,
    publicProcedures: procedurePaths(operations.filter(({ isPublic }) => isPublic)),
    idempotentProcedures: new Set(
      definitions
        .filter(({ idempotencyKey, rest: meta }) => idempotencyKey ?? meta?.idempotencyKey)
        .map(({ path }) => path),
    ),
    idempotency,
    errorResponse: trpcErrorResponse,
    createContext: options.createContext,
  };
  const trpc = new TrpcProtocol(trpcSettings);
  const sockets = new WebSockets({
    ...trpcSettings,
    admit: (scope: RequestScope<Identity>, target) => admit(admitting, scope, target),
    rateLimit,
    allowsOrigin: createSocketOrigins(options.cors?.origins ?? [], ownOrigin),
    clientAddress,
    failedAttempts,
    sockets: socketOptions,
    awaitsParameters: (request) => isProtected && schemeIn(schemes, request, request) !== schemes[0],
    emit: (record) => recorder.emit(record),
  });

  let made: Promise<OpenApiDocument> | undefined;
  let documentText: Promise<string> | undefined;
  const document = () =>
    // Loaded at the first use: the generator takes about 20 MB and 200 ms (trpc-to-openapi 3.3.0).
    (made ??= import('./openapi/document.ts').then(({ createDocument }) =>
      createDocument(router, {
        operations,
        document: options.document,
        server: `${origin}${restBasePath}`,
        schemes,
        isRateLimited: rateLimit !== undefined,
        limitsAttempts: failedAttempts !== undefined,
        limits,
        errorFormat,
      }),
    ));

  const hasRouteBelow = (base: string) => routes.paths.some((path) => isBelow(path, base));
  const hasRpcRoutes = hasRouteBelow(rpcBasePath);
  const hasRestRoutes = hasRouteBelow(restBasePath);

  /** Routes are looked up last: that hashes the path, and there is hardly ever one below a base path. */
  function protocolOf(path: string): ProtocolName {
    if (isBelow(path, rpcBasePath)) return hasRpcRoutes && routes.has(path) ? 'other' : 'rpc';
    if (isBelow(path, restBasePath)) return hasRestRoutes && routes.has(path) ? 'other' : 'rest';
    return 'other';
  }

  function scopeOf(request: HttpRequest, protocol: ProtocolName): RequestScope<Identity> {
    const startedAt = recorder.isComplete ? performance.now() : 0;
    return new RequestScope(request, protocol, requestId(request.header('x-request-id')), startedAt);
  }

  const respond = (scope: RequestScope<Identity>): MaybePromise<HttpResponse> =>
    scope.protocol === 'rest'
      ? serve(rest, scope)
      : scope.protocol === 'rpc'
        ? serve(trpc, scope)
        : serveRoute(scope);
  const respondTo = behindOnRequest(respond);
  const upgradeTo = behindOnRequest((scope) => sockets.upgrade(scope));

  const handle: Handle = (request) => {
    const scope = scopeOf(request, protocolOf(request.path));
    try {
      const response = respondTo(scope);
      if (!(response instanceof Promise)) return completed(scope, response);
      return response.then(
        (settled) => completed(scope, settled),
        (error: unknown) => rescued(scope, error),
      );
    } catch (error) {
      return rescued(scope, error);
    }
  };

  /** Policies, then the protocol. */
  function serve<Named extends Target>(
    protocol: Protocol<Identity, Named>,
    scope: RequestScope<Identity>,
  ): MaybePromise<ResponseDraft> {
    const target = protocol.target(scope.request);
    if (scope.request.method === 'OPTIONS') return protocol.options(scope, target);
    const rejection = admit(admitting, scope, target);
    if (rejection === undefined) return protocol.respond(scope, target);
    return rejection instanceof Promise
      ? rejection.then((error) => (error ? protocol.reject(error, scope) : protocol.respond(scope, target)))
      : protocol.reject(rejection, scope);
  }

  function serveRoute(scope: RequestScope<Identity>): MaybePromise<HttpResponse> {
    const { request } = scope;
    const methods = routes.at(request.path);
    if (methods === undefined) {
      const error = new TRPCError({ code: 'NOT_FOUND', message: 'There is nothing at this path.' });
      return errorResponse(error, scope);
    }
    const route = methods.get(request.method === 'HEAD' ? 'GET' : request.method);
    if (route === undefined) {
      const allow = allowOf(methods);
      if (request.method === 'OPTIONS') return new ResponseDraft(204, [['allow', allow]]);
      const error = new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message: `This path takes ${allow}.` });
      return errorResponse(error, scope, [['allow', allow]]);
    }
    if (!route.protect) return runRoute(route, scope);
    const target: Target = { callCount: 1, isPublic: false };
    return after(admit(admitting, scope, target), (error) =>
      error ? errorResponse(error, scope) : runRoute(route, scope),
    );
  }

  function runRoute(route: Route<Identity>, scope: RequestScope<Identity>): MaybePromise<HttpResponse> {
    const { identity, request, requestId: id } = scope;
    const failed = (cause: unknown) => {
      const error = routeError(cause, request);
      if (error === undefined) throw cause;
      return errorResponse(error, scope);
    };
    try {
      const response = route.handler(request, { identity, requestId: id });
      return response instanceof Promise
        ? response.then((settled) => requireResponse(settled, request)).catch(failed)
        : requireResponse(response, request);
    } catch (cause) {
      return failed(cause);
    }
  }

  /** Calls `onRequest` first, where there is one. */
  function behindOnRequest<Answer>(
    next: (scope: RequestScope<Identity>) => MaybePromise<Answer>,
  ): (scope: RequestScope<Identity>) => MaybePromise<Answer | HttpResponse> {
    if (onRequest === undefined) return next;
    const rejected = (scope: RequestScope<Identity>, cause: unknown) => {
      const error = clientError(failureOf(cause).error);
      if (scope.protocol === 'other') return errorResponse(error, scope);
      return (scope.protocol === 'rest' ? rest : trpc).reject(error, scope);
    };
    return (scope) => {
      if (scope.request.method === 'OPTIONS') return next(scope);
      let response: ReturnType<typeof onRequest>;
      try {
        response = onRequest(scope.request);
      } catch (cause) {
        return rejected(scope, cause);
      }
      if (!isThenable(response)) return response ?? next(scope);
      return Promise.resolve(response).then(
        (settled) => settled ?? next(scope),
        (cause: unknown) => rejected(scope, cause),
      );
    };
  }

  /** Calls `onResponse` last. Where it throws, the response is 500 in its place, which the `others` complete. */
  function responseHook(
    hook: NonNullable<typeof onResponse>,
    others: readonly Policy<Identity>[],
  ): Policy<Identity> {
    return {
      complete(scope, response) {
        try {
          hookResponse(hook, scope.request, response);
        } catch (cause) {
          const failed = errorResponse(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }), scope);
          scope.error = cause;
          withoutBody(response);
          const { body, headers, sharedHeaders, status } = failed;
          Object.assign(response, {
            body,
            headers: [...headers, ...(scope.headers ?? [])],
            sharedHeaders,
            status,
          });
          for (const policy of others) policy.complete?.(scope, response);
        }
      },
    };
  }

  /** Completes and reports a response. */
  function completed(scope: RequestScope<Identity>, response: HttpResponse): HttpResponse {
    try {
      return finished(scope, response instanceof ResponseDraft ? response : ResponseDraft.of(response));
    } catch (error) {
      return rescued(scope, error);
    }
  }

  /** An error of the gateway's own, or of a page, is answered with 500. */
  function rescued(scope: RequestScope<Identity>, cause: unknown): HttpResponse {
    const answer = errorResponse(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }), scope);
    scope.error = cause;
    return finished(scope, answer);
  }

  function finished(scope: RequestScope<Identity>, response: ResponseDraft): ResponseDraft {
    if (scope.headers) for (const header of scope.headers) response.headers.push(header);
    for (const policy of completing) policy.complete?.(scope, response);
    response.headers.push(['x-request-id', scope.requestId]);
    recorder.response(scope, response);
    return response;
  }

  const upgrade: Upgrade = (request) => {
    // RFC 6455 §4.1
    if (request.method !== 'GET' || protocolOf(request.path) !== 'rpc') return undefined;
    const scope = scopeOf(request, 'rpc');
    const decided = (decision: Awaited<ReturnType<typeof sockets.upgrade>>) => {
      if (typeof decision !== 'function') return completed(scope, decision);
      recorder.upgrade(scope);
      return decision;
    };
    try {
      const decision = upgradeTo(scope);
      return decision instanceof Promise
        ? decision.then(decided, (error: unknown) => rescued(scope, error))
        : decided(decision);
    } catch (error) {
      return rescued(scope, error);
    }
  };

  const shed = (request: HttpRequest): HttpResponse | undefined => {
    for (const policy of arriving) {
      const error = policy.arrive?.(request);
      // A preflight costs what its rejection would, and a page whose preflight fails does not see why.
      if (error === undefined || request.method === 'OPTIONS') continue;
      const protocol = protocolOf(request.path);
      if (protocol === 'other') return undefined;
      const scope = scopeOf(request, protocol);
      return completed(scope, (protocol === 'rest' ? rest : trpc).reject(error, scope));
    }
    return undefined;
  };

  const rejectHttp: RejectHttp = (request, { status, code, message }) => {
    const scope = scopeOf(request, protocolOf(request.path));
    const shown = { code, message, status, isDeclared: false, data: undefined, issues: [], error: undefined };
    const body = JSON.stringify(errorFormat.body(shown));
    if (status === 414) scope.limit = 'url-bytes';
    if (status === 431) scope.limit = 'header-bytes';
    return completed(scope, new ResponseDraft(status, [['content-type', errorFormat.contentType]], body));
  };

  return {
    handle,
    serves: (path) => protocolOf(path) !== 'other' || routes.has(path),
    upgrade,
    ...(arriving.length > 0 && { shed }),
    rejectHttp,
    fetch: createFetch({ handle, maxBodyBytes: limits.maxBodyBytes, maxStreamBytes }),
    maxBodyBytes: limits.maxBodyBytes,
    maxStreamBytes,
    maxMessageBytes: socketOptions.maxMessageBytes,
    maxUnauthenticatedBytes: socketOptions.maxUnauthenticatedBytes,
    procedures: definitions.map(({ path, type, execution }) => ({ path, type, execution })),
    callsInFlight: () => calls.inFlight,
    refusedTokens: () => failedAttempts?.known() ?? 0,
    broadcastReconnect: () => sockets.broadcastReconnect(),
    document,
  };
}

/** The headers that metadata and schemes describe, of requests and of responses. */
function describedHeaders(
  operations: readonly Operation[],
  schemes: readonly Scheme[],
  routeMethods: readonly string[],
): DescribedHeaders {
  const names = (headers: object = {}) =>
    Object.keys(isZod(headers) ? (headers as z.ZodObject).shape : headers);
  return {
    request: [
      ...operations.flatMap(({ input, rest }) => [
        ...names(rest.requestHeaders),
        ...input.headers.flatMap(({ place }) => (place.in === 'header' ? [place.name] : [])),
      ]),
      // A page must be allowed to send an API key's header.
      ...schemes.flatMap(({ document }) => (document['in'] === 'header' ? [String(document['name'])] : [])),
    ],
    response: operations
      .flatMap(({ input, rest }) => [
        ...names(rest.responseHeaders),
        ...(rest.method === 'QUERY' && input.body ? ['Accept-Query'] : []),
      ])
      .concat(schemes.some(({ protectedResource }) => protectedResource) ? ['WWW-Authenticate'] : []),
    methods: [...operations.map(({ rest }) => rest.method), ...routeMethods],
  };
}

/**
 * Serves the metadata of a protected resource, to pages of any origin: it is public, and clients in browsers read it.
 * @throws {GatewayError} where something else is served at its path
 */
function addMetadata<Identity>(
  routes: RouteTable<Identity>,
  resource: ProtectedResource,
  scopes: readonly string[],
): void {
  const { path } = resource;
  if (routes.has(path)) {
    throw new GatewayError(
      `The metadata of a protected resource and something else are served at "${path}": give each scheme a resource of its own, and routes another path.`,
    );
  }
  const headers: readonly Header[] = [
    ['content-type', 'application/json'],
    ['access-control-allow-origin', '*'],
  ];
  const body = JSON.stringify(resource.document(scopes));
  routes.add(path, { handler: () => ({ status: 200, headers, body }) });
}

/** `onError`, and behind it that of `rpc`, whose own failure tRPC answers. */
function reportedToBoth(
  reporter: ErrorReporter,
  onError: RpcOptions<AnyTRPCRouter>['onError'],
): NonNullable<RpcOptions<AnyTRPCRouter>['onError']> {
  return (reported) => {
    const { ctx, error, input, path, req, type } = reported;
    reporter.report({ error, path, type, input, ctx, request: req });
    return onError?.(reported);
  };
}

/** Reports the errors of REST and of routes before they are answered. */
function reportedErrors(
  errorResponse: ErrorResponse,
  reporter: ErrorReporter | undefined,
  procedures: readonly Procedure[],
): ErrorResponse {
  if (reporter === undefined) return errorResponse;
  const types = new Map(procedures.map(({ path, type }) => [path, type]));
  return (error, scope, ...others) => {
    const { context: ctx, operation: path, request } = scope;
    const type = types.get(path ?? '') ?? 'unknown';
    // The error of a call whose client disconnected is not answered.
    if (!request.isAborted) reporter.report({ error, path, type, input: undefined, ctx, request });
    return errorResponse(error, scope, ...others);
  };
}

/** Reports the errors of tRPC that belong to no call, such as those of policies. */
function reportedTrpcErrors(
  errorResponse: TrpcErrorResponse,
  reporter: ErrorReporter | undefined,
): TrpcErrorResponse {
  if (reporter === undefined) return errorResponse;
  return (error, scope, headers) => {
    const { request } = scope;
    const none = { path: undefined, type: 'unknown', input: undefined, ctx: undefined } as const;
    reporter.reportOnce({ error, request, ...none });
    return errorResponse(error, scope, headers);
  };
}

const procedurePaths = (operations: readonly Operation[]) =>
  new Set(operations.map(({ procedure }) => procedure.path));

const isBelow = (path: string, base: string) =>
  path.startsWith(base) && (path.length === base.length || path[base.length] === '/');

/** A base path without the slash at its end: `/` is `''`. */
const withoutSlash = (path: string) => path.replace(/\/+$/, '');

type PathOptions = Pick<
  GatewayOptions<AnyTRPCRouter, never>,
  'restBasePath' | 'rpcBasePath' | 'documentPath'
>;

/** @throws {GatewayError} where the document or a procedure is served at the path of a route */
function requireFreePaths<Identity>(
  routes: RouteTable<Identity>,
  documentPath: string,
  rpcBasePath: string,
  procedures: readonly Procedure[],
): void {
  if (routes.has(documentPath)) {
    throw new GatewayError(
      `"${documentPath}" is the document's path and one of routes: give one of them another path.`,
    );
  }
  const taken = procedures.filter(({ path }) => routes.has(`${rpcBasePath}/${path}`));
  if (taken.length === 0) return;
  throw new GatewayError(
    taken
      .map(
        ({ path }) =>
          `The procedure ${path} is served at "${rpcBasePath}/${path}", which is one of routes: give the route another path.`,
      )
      .join('\n'),
  );
}

/** @throws {GatewayError} for a path without a slash in front, which plain JavaScript can give, and for two things at one path */
function pathsOf(options: PathOptions) {
  const { documentPath = '/openapi.json' } = options;
  const paths: readonly (readonly [name: string, path: string | undefined])[] = [
    ['restBasePath', options.restBasePath],
    ['rpcBasePath', options.rpcBasePath],
    ['documentPath', documentPath],
  ];
  for (const [name, path] of paths) {
    if (path === undefined || path.startsWith('/')) continue;
    throw new GatewayError(`${name} is "${path}": it must start with a slash, such as "/${path}".`);
  }
  const restBasePath = withoutSlash(options.restBasePath ?? '/v1');
  const rpcBasePath = withoutSlash(options.rpcBasePath ?? '/trpc');
  if (restBasePath === rpcBasePath) {
    throw new GatewayError(
      `REST and tRPC are both served below "${restBasePath}": give one of them another base path.`,
    );
  }
  return { documentPath, restBasePath, rpcBasePath };
}

/** In front of a `publicUrl` that is a path, to read it as a URL. */
const anyOrigin = 'http://path.invalid';

function publicOrigin(publicUrl: string | undefined, restBasePath: string): string {
  if (publicUrl === undefined) return '';
  const url = URL.canParse(publicUrl, anyOrigin) ? new URL(publicUrl, anyOrigin) : undefined;
  // "//pets.example" names a host.
  const isPath = publicUrl.startsWith('/') && url?.origin === anyOrigin;
  if (url === undefined || !(isPath || /^https?:\/\//.test(publicUrl)) || /[?#]/.test(publicUrl)) {
    throw new GatewayError(
      `publicUrl is ${publicUrl}; it must be an absolute http or https URL, or a path such as /api, without query or fragment.`,
    );
  }
  const origin = withoutSlash(publicUrl);
  if (restBasePath !== '' && withoutSlash(url.pathname).endsWith(restBasePath)) {
    throw new GatewayError(
      `publicUrl is ${publicUrl}: it must not end in the REST base path "${restBasePath}", which links and the document add to it. Use ${origin.slice(0, -restBasePath.length)}.`,
    );
  }
  return origin;
}
