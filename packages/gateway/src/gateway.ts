import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import { createFetch, type Fetch } from './adapters/fetch/fetch.ts';
import type { MaybePromise } from './http/maybePromise.ts';
import type { OutgoingResponse } from './http/outgoingResponse.ts';
import type { HttpRequest } from './http/request.ts';
import { requestId } from './http/requestId.ts';
import type { HttpResponse } from './http/response.ts';
import type { Handle, RejectHttp, Service, Upgrade } from './http/service.ts';
import { describedHeaders } from './openapi/describedHeaders.ts';
import type { OpenApiDocument } from './openapi/openApiDocument.ts';
import { apiErrors } from './operations/errorFormat.ts';
import { lazyDocument } from './openapi/lazyDocument.ts';
import { createOperations } from './operations/operation.ts';
import type { GatewayOptions } from './options.ts';
import { authenticationPolicy, allowInexactHeaders, schemeIn, schemesOf } from './auth/authentication.ts';
import { Calls } from './calls/calls.ts';
import { createClientAddress } from './calls/clientAddress.ts';
import { clientTimeoutPolicy } from './calls/clientTimeout.ts';
import { createCompletion } from './calls/completion.ts';
import { concurrencyPolicy } from './policies/concurrency.ts';
import { corsPolicy } from './policies/cors.ts';
import { createCredentialWatch } from './auth/credentialWatch.ts';
import { createFailedAttempts } from './auth/failedAttempts.ts';
import { afterOnRequest, ErrorReporter, hookedCalls } from './calls/hooks.ts';
import { Idempotency } from './policies/idempotency.ts';
import { limitsOf } from './calls/limits.ts';
import { loadSheddingPolicy } from './policies/loadShedding.ts';
import { createObserve } from './calls/observe.ts';
import { admit, arrive, type Policy, type Target } from './calls/policy.ts';
import { createRateLimit, requireCosts } from './policies/rateLimit.ts';
import { Recorder } from './calls/recorder.ts';
import { RequestScope, type ProtocolName } from './calls/requestScope.ts';
import { addMetadata, RouteTable } from './calls/routes.ts';
import { createSameSite } from './auth/sameSite.ts';
import { allScopes, scopesPolicy } from './auth/scopes.ts';
import { securityHeadersPolicy } from './policies/securityHeaders.ts';
import { createSocketOrigins } from './auth/socketOrigins.ts';
import { readProcedures, type ServedProcedure } from './procedures/procedures.ts';
import {
  createProtocolOf,
  createRouteOf,
  isBelow,
  createLinkBase,
  readPaths,
  requireFreePaths,
} from './protocols/paths.ts';
import type { Protocol } from './protocols/protocol.ts';
import { createErrorResponse, rejectionResponse } from './protocols/rest/errorResponse.ts';
import { createRestProtocol } from './protocols/rest/restProtocol.ts';
import { createRouteServer } from './protocols/rest/serveRoutes.ts';
import { eventTimes } from './protocols/trpc/eventsResponse.ts';
import { trpcOptions, withSocketLimits, type TrpcSettings } from './protocols/trpc/options.ts';
import { TrpcErrors } from './protocols/trpc/trpcErrors.ts';
import { TrpcProtocol } from './protocols/trpc/trpcProtocol.ts';
import { WebSockets } from './protocols/trpc/webSockets.ts';
import { requireOptions } from './requireOptions.ts';

/** A gateway: pass it to `serve`, `nodeHandler` or `handleUpgrades`, or call its `fetch`. */
export interface Gateway extends Service {
  /** Whether a path is below a base path, or is the path of the document or of one of `routes`. */
  readonly serves: (path: string) => boolean;
  readonly upgrade: Upgrade;
  readonly rejectHttp: RejectHttp;
  /**
   * Responds to a WHATWG `Request` in this process: in route handlers, on runtimes other than Node, and in tests as the
   * `fetch` of a client. It does not support WebSockets.
   */
  readonly fetch: Fetch;
  /** All procedures of the router in its order, including those of lazy routers. */
  readonly procedures: readonly ServedProcedure[];
  /** Returns the number of calls that are running, over all protocols. */
  readonly callsInFlight: () => number;
  /** Returns the number of invalid tokens that are remembered; 0 without `failedAttempts`. */
  readonly rejectedTokens: () => number;
  /**
   * Whether responses to idempotency keys are stored in the memory of this process only. Another process then runs a
   * repeated call again.
   */
  readonly hasLocalIdempotencyKeys: boolean;
  /**
   * Notifies every WebSocket client to reconnect, for example before a deploy, as tRPC's
   * `broadcastReconnectNotification`.
   */
  readonly broadcastReconnect: () => void;
  /** Returns the OpenAPI document of the procedures with REST metadata. The first call generates it. */
  readonly document: () => Promise<OpenApiDocument>;
}

/**
 * Creates a gateway that serves a router as tRPC and REST. Serve it with an adapter, such as `serve` of
 * `@petstore/gateway/uws`. The router and its schemas are not modified.
 *
 * ```ts
 * const gateway = await createGateway({
 *   router,
 *   createContext: () => ({}),
 *   document: { title: 'Pets', version: '1.0.0' },
 *   maskUnexpectedErrors: true,
 * });
 * await serve(gateway, { port: 3000 });
 * ```
 *
 * Unexpected errors are reported to `onResponse`; without it, they are written to stderr. Over tRPC, clients receive
 * their messages, as from tRPC, unless `maskUnexpectedErrors` is set; set `isDev: false` in the router to hide stacks.
 * @throws {GatewayError} for invalid options, and with one line for each procedure that cannot be served: its name, the
 * reason and the fix
 */
export async function createGateway<Router extends AnyTRPCRouter, Identity>(
  options: GatewayOptions<Router, Identity>,
): Promise<Gateway> {
  requireOptions(options);
  const { createContext, errorFormat = apiErrors, onCall, onError, onRequest, onSend, router } = options;
  const schemes = schemesOf(options.authentication);
  const isProtected = schemes.length > 0;
  const paths = readPaths(options);
  const { documentPath, restBasePath, trpcBasePath } = paths;
  const links = createLinkBase(options.publicUrl, restBasePath);
  const ownOrigin = URL.canParse(links.origin) ? new URL(links.origin).origin : undefined;
  const limits = limitsOf(options);
  const socketOptions = withSocketLimits(options.sockets ?? {}, limits.maxBodyBytes);
  const routes = new RouteTable<Identity>(options.routes ?? {});

  // Procedures, routes and REST operations
  const definitions = await readProcedures(router);
  const scopes = allScopes(definitions, schemes);
  if (!isProtected) routes.requireAuthentication();
  requireFreePaths(routes, paths, definitions);
  const routeMethods = routes.methods;
  routes.add(documentPath, { handler: () => document.response() });
  for (const { protectedResource } of schemes) {
    if (protectedResource) addMetadata(routes, protectedResource, scopes);
  }
  const operations = createOperations(definitions, {
    basePath: restBasePath,
    links,
    isTaken: (path) => routes.has(path) || isBelow(path, trpcBasePath),
    jsonSchema: options.jsonSchema,
    canSpool: options.spool !== undefined,
  });
  const uploadBytes = operations.map(({ input }) => input.body?.upload?.maxBytes ?? 0);
  const maxStreamBytes = Math.max(limits.maxBodyBytes, ...uploadBytes);

  // State that all requests share
  const calls = new Calls(limits, options.telemetry !== undefined, onCall && hookedCalls(onCall));
  const watch = createCredentialWatch();
  const clientAddress = createClientAddress(options.trustProxy ?? []);
  const failedAttempts =
    options.failedAttempts && createFailedAttempts(options.failedAttempts, clientAddress);
  const rateLimit = options.rateLimit && createRateLimit(options.rateLimit, clientAddress);
  if (options.rateLimit) requireCosts(definitions, options.rateLimit.calls);
  const isIdempotent = definitions.some((definition) => definition.idempotencyKey);
  const idempotency = isIdempotent ? new Idempotency(options.idempotency ?? {}, limits) : undefined;
  const isSameSite = createSameSite(options.cors?.credentials ? options.cors.origins : [], ownOrigin);
  const reporter = onError && new ErrorReporter(onError);
  const isMasked = options.maskUnexpectedErrors ?? false;
  const errorResponse = createErrorResponse(errorFormat, reporter, definitions, limits.maxResponseBytes);
  const recorder = new Recorder(options);
  const document = lazyDocument(router, {
    operations,
    document: options.document,
    server: links.rest,
    schemes,
    isRateLimited: rateLimit !== undefined,
    limitsAttempts: failedAttempts !== undefined,
    limits,
    errorFormat,
  });

  // Policies run in this order. After them, each call takes a place in `calls` and gets a deadline and a span.
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
  const arrivalPolicies = policies.filter((policy) => policy.arrive);
  const admissionPolicies = policies.filter((policy) => policy.admit);
  const { complete, rescue } = createCompletion({ policies, onSend, recorder, errorResponse });

  // Protocols
  const trpc = trpcOptions(options.trpc, limits, reporter);
  const rest = createRestProtocol({
    operations,
    links,
    basePathLength: restBasePath.length,
    limits,
    calls,
    watch,
    idempotency,
    createContext,
    spool: options.spool,
    errorResponse,
    ...eventTimes(router._def._config),
  });
  const trpcSettings: TrpcSettings = {
    config: router._def._config,
    basePath: trpcBasePath,
    trpc,
    limits,
    calls,
    procedures: new Map(definitions.map((definition) => [definition.path, definition])),
    watch,
    idempotency,
    errors: new TrpcErrors(router, { maxResponseBytes: limits.maxResponseBytes, isMasked, reporter }),
    createContext,
  };
  const trpcProtocol = new TrpcProtocol(trpcSettings);
  const sockets = new WebSockets({
    ...trpcSettings,
    admit: (scope: RequestScope<Identity>, target) => admit(admissionPolicies, scope, target),
    rateLimit,
    allowsOrigin: createSocketOrigins(options.cors?.origins ?? [], ownOrigin),
    clientAddress,
    failedAttempts,
    sockets: socketOptions,
    awaitsParameters: (request) => isProtected && schemeIn(schemes, request, request) !== schemes[0],
    emit: (record) => recorder.emit(record),
  });
  const serveRoute = createRouteServer({ routes, policies: admissionPolicies, errorResponse });
  const protocolOf = createProtocolOf(paths, routes);
  const observe =
    options.telemetry &&
    createObserve(options.telemetry, {
      routeOf: createRouteOf(paths, routes, rest.routeOf),
      publicScheme: ownOrigin === undefined ? undefined : ownOrigin.startsWith('https:') ? 'https' : 'http',
      clientAddress,
    });

  function scopeOf(request: HttpRequest, protocol: ProtocolName): RequestScope<Identity> {
    const startedAt = recorder.isComplete ? performance.now() : 0;
    const id = requestId(request.header('x-request-id'));
    const scope = new RequestScope<Identity>(request, protocol, id, startedAt);
    observe?.(scope);
    return scope;
  }

  /** Runs the policies, then the protocol. */
  function serve<TargetOfProtocol extends Target>(
    protocol: Protocol<Identity, TargetOfProtocol>,
    scope: RequestScope<Identity>,
  ): MaybePromise<OutgoingResponse> {
    const target = protocol.target(scope.request);
    if (scope.request.method === 'OPTIONS') return protocol.options(scope, target);
    const rejection = admit(admissionPolicies, scope, target);
    if (rejection === undefined) return protocol.respond(scope, target);
    return rejection instanceof Promise
      ? rejection.then((error) => (error ? protocol.reject(error, scope) : protocol.respond(scope, target)))
      : protocol.reject(rejection, scope);
  }

  /** Formats an error that occurs before the protocol handles the request. */
  const reject = (error: TRPCError, scope: RequestScope<Identity>): OutgoingResponse =>
    (scope.protocol === 'trpc' ? trpcProtocol : rest).reject(error, scope);

  const respond = (scope: RequestScope<Identity>): MaybePromise<HttpResponse> => {
    if (scope.protocol === 'rest') return serve(rest, scope);
    return scope.protocol === 'trpc' ? serve(trpcProtocol, scope) : serveRoute(scope);
  };
  const respondTo = afterOnRequest(onRequest, reject, respond);
  const upgradeTo = afterOnRequest(onRequest, reject, (scope) => sockets.upgrade(scope));

  const handle: Handle = (request) => {
    const scope = scopeOf(request, protocolOf(request.path));
    try {
      const { telemetry } = scope;
      const response = telemetry ? telemetry.run(() => respondTo(scope)) : respondTo(scope);
      if (!(response instanceof Promise)) return complete(scope, response);
      return response.then(
        (settled) => complete(scope, settled),
        (error: unknown) => rescue(scope, error),
      );
    } catch (error) {
      return rescue(scope, error);
    }
  };

  const upgrade: Upgrade = (request) => {
    // RFC 6455 §4.1
    if (request.method !== 'GET' || protocolOf(request.path) !== 'trpc') return undefined;
    const scope = scopeOf(request, 'trpc');
    const finish = (decision: Awaited<ReturnType<typeof upgradeTo>>) => {
      if (typeof decision !== 'function') return complete(scope, decision);
      recorder.upgrade(scope);
      return decision;
    };
    try {
      const { telemetry } = scope;
      const decision = telemetry ? telemetry.run(() => upgradeTo(scope)) : upgradeTo(scope);
      return decision instanceof Promise
        ? decision.then(finish, (error: unknown) => rescue(scope, error))
        : finish(decision);
    } catch (error) {
      return rescue(scope, error);
    }
  };

  const shed = (request: HttpRequest): HttpResponse | undefined => {
    const error = arrive(arrivalPolicies, request);
    if (error === undefined) return undefined;
    const protocol = protocolOf(request.path);
    if (protocol === 'other') return undefined;
    const scope = scopeOf(request, protocol);
    return complete(scope, reject(error, scope));
  };

  const rejectHttp: RejectHttp = (request, rejection) => {
    const scope = scopeOf(request, protocolOf(request.path));
    return complete(scope, rejectionResponse(errorFormat, scope, rejection));
  };

  return {
    handle,
    allowInexactHeaders: () => allowInexactHeaders(schemes),
    serves: (path) => protocolOf(path) !== 'other' || routes.has(path),
    upgrade,
    ...(arrivalPolicies.length > 0 && { shed }),
    rejectHttp,
    fetch: createFetch({ handle, maxBodyBytes: limits.maxBodyBytes, maxStreamBytes }),
    maxBodyBytes: limits.maxBodyBytes,
    maxStreamBytes,
    maxMessageBytes: socketOptions.maxMessageBytes,
    maxUnauthenticatedBytes: socketOptions.maxUnauthenticatedBytes,
    procedures: definitions.map(({ path, type, execution }) => ({ path, type, execution })),
    callsInFlight: () => calls.inFlight,
    rejectedTokens: () => failedAttempts?.known() ?? 0,
    hasLocalIdempotencyKeys: isIdempotent && options.idempotency?.state === undefined,
    broadcastReconnect: () => sockets.broadcastReconnect(),
    document: document.value,
  };
}
