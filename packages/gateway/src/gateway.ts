import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import { createFetch, type Fetch } from './adapters/fetch/fetch.ts';
import { mapMaybePromise, type MaybePromise } from './http/maybePromise.ts';
import { type RejectHttp, type Service, type Upgrade } from './http/service.ts';
import { describedHeaders } from './openapi/describedHeaders.ts';
import { apiErrors } from './operations/errorFormat.ts';
import { lazyDocument, type OpenApiDocument } from './openapi/document.ts';
import { readOperations } from './operations/operation.ts';
import { foldCase } from './operations/pathTemplate.ts';
import type { GatewayOptions } from './options.ts';
import { authenticationPolicy, allowInexactHeaders, schemesOf } from './auth/authentication.ts';
import { Calls } from './calls/calls.ts';
import { createClientAddress } from './calls/clientAddress.ts';
import { corsPolicy } from './policies/cors.ts';
import { createCredentialWatch } from './auth/credentialWatch.ts';
import { crossSitePolicy } from './auth/crossSite.ts';
import { createFailedAttempts } from './auth/failedAttempts.ts';
import { createReportError } from './calls/reportError.ts';
import { createIdempotency } from './policies/idempotency.ts';
import { limitsOf } from './calls/limits.ts';
import { errorMapper, mapRejection, type ToError } from './calls/mapError.ts';
import { createLoadShedding } from './policies/loadShedding.ts';
import { admit, policySteps, requirePolicies, type Policy } from './calls/policy.ts';
import { createRateLimit } from './policies/rateLimit.ts';
import { Recorder } from './calls/recorder.ts';
import { clientTimeoutPolicy, type RequestPolicy, type RequestContext } from './calls/requestContext.ts';
import { addRoute, metadataRoute, readRoutes } from './calls/routes.ts';
import { allScopes, scopesPolicy } from './auth/scopes.ts';
import { securityHeadersPolicy } from './policies/securityHeaders.ts';
import { createCredentialOrigins, createSocketOrigins, toolOriginPolicy } from './auth/origins.ts';
import { failureOf } from './procedures/execute.ts';
import { readProcedures, type ServedProcedure } from './procedures/procedures.ts';
import { warnOfUnservedTools } from './protocols/mcpEndpoint.ts';
import { createRouteOf, isBelow, createLinkBase, readPaths, requireFreePaths } from './protocols/paths.ts';
import { createProtocolOf, RequestHandler } from './protocols/requestHandler.ts';
import { createErrorResponses } from './protocols/rest/errorResponse.ts';
import { createReadForm } from './protocols/rest/readInput.ts';
import { createRestProtocol } from './protocols/rest/restProtocol.ts';
import { createRouteProtocol } from './protocols/rest/serveRoutes.ts';
import { eventTimes } from './protocols/trpc/eventsResponse.ts';
import { maxMessageBytesOf, trpcOptions, type TrpcSettings } from './protocols/trpc/options.ts';
import { syncConfig } from './protocols/trpc/routerConfig.ts';
import { SubscriptionStarts } from './protocols/trpc/subscriptionStarts.ts';
import { TrpcErrors } from './protocols/trpc/trpcErrors.ts';
import { createTrpcProtocol } from './protocols/trpc/trpcProtocol.ts';
import { WebSockets } from './protocols/trpc/webSockets.ts';
import { gatewayRules } from './gatewayRules.ts';
import { collect, formatProblems, GatewayError } from './http/gatewayError.ts';
import { requireOptions } from './http/optionRules.ts';
import { warn } from './http/warnings.ts';

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
 * `trpc-gateway/uws`. The router and its schemas are not modified.
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
export async function createGateway<Router extends AnyTRPCRouter, Identity, Data extends object = object>(
  options: GatewayOptions<Router, Identity, Data>,
): Promise<Gateway> {
  try {
    return await assemble(options);
  } catch (error) {
    // The lines of this package say nothing about a problem of the application.
    if (error instanceof GatewayError) Error.captureStackTrace(error, createGateway);
    throw error;
  }
}

async function assemble<Router extends AnyTRPCRouter, Identity>(
  options: Options<Router, Identity>,
): Promise<Gateway> {
  requireOptions('createGateway', options, gatewayRules, '');
  const service = await readService(options);
  const policies = createPolicies(options, service);
  const served = createProtocols(options, service, policies);
  const { protocolOf, recorder, routeOf, sockets } = served;
  const { definitions, document, limits, maxStreamBytes, ownOrigin, routes, schemes } = service;
  const { calls, clientAddress, failedAttempts, idempotency } = policies;
  const { maxBodyBytes, maxQueueMs } = limits;
  const { telemetry } = options;
  const publicScheme =
    ownOrigin === undefined ? undefined : ownOrigin.startsWith('https:') ? 'https' : 'http';
  const { handle, rejectHttp, shed, upgrade } = new RequestHandler<Identity>({
    protocols: served.protocols,
    protocolOf,
    openSocket: (context) => sockets.upgrade(context),
    own: policies.own,
    admitting: policies.admitting,
    ofService: policies.ofService,
    loadShedding: maxQueueMs < Infinity ? createLoadShedding(maxQueueMs) : undefined,
    recorder,
    calls,
    observe:
      telemetry &&
      (({ protocol, request }) =>
        telemetry.begin({
          request,
          protocol,
          route: routeOf(protocol, request.path),
          scheme: publicScheme ?? request.scheme ?? 'http',
          clientAddress: clientAddress(request),
        })),
    rejectionResponse: served.rejectionResponse,
  });
  return {
    handle,
    allowInexactHeaders: () => allowInexactHeaders(schemes),
    serves: (path) => protocolOf(path) !== 'other' || routes.has(path),
    upgrade,
    ...(maxQueueMs < Infinity && { shed }),
    rejectHttp,
    fetch: createFetch({ handle, maxBodyBytes, maxStreamBytes }),
    maxBodyBytes,
    maxStreamBytes,
    maxMessageBytes: maxMessageBytesOf(limits),
    procedures: definitions.map(({ path, type, execution }) => ({ path, type, execution })),
    callsInFlight: () => calls.inFlight,
    rejectedTokens: () => failedAttempts?.known() ?? 0,
    hasLocalIdempotencyKeys: idempotency !== undefined && options.state === undefined,
    broadcastReconnect: () => sockets.broadcastReconnect(),
    document: document.value,
  };
}

type Options<Router extends AnyTRPCRouter, Identity> = GatewayOptions<Router, Identity, never>;

/** Reads what is served: procedures, REST operations, routes and the document, and under which paths and limits. */
async function readService<Router extends AnyTRPCRouter, Identity>(options: Options<Router, Identity>) {
  const { errorFormat = apiErrors, router } = options;
  const [schemes, paths, routes] = collect([
    () => schemesOf(options.authentication),
    () => readPaths({ ...options, mcpPath: options.mcp?.path }),
    () => readRoutes(options.routes ?? {}),
  ]);
  const { documentPath, mcpPath, restBasePath, trpcBasePath } = paths;
  const links = createLinkBase(options.publicUrl, restBasePath);
  const limits = limitsOf(options);
  addRoute(routes, documentPath, () => document.response());
  if (mcpPath !== undefined) {
    if (routes.has(mcpPath) || mcpPath === trpcBasePath || mcpPath === restBasePath) {
      throw new GatewayError(
        `The tools are served at "${mcpPath}", where another protocol, the document or a route is too. Give them another path, such as mcp({ path: '/tools' }).`,
      );
    }
    // Reserved: `createProtocolOf` selects MCP for it.
    addRoute(routes, mcpPath, () => ({ status: 404, headers: [] }));
  }

  const { procedures: definitions, problems } = await readProcedures(router, options.openapi);
  if (!options.mcp) warnOfUnservedTools(definitions);
  const scopes = allScopes(definitions, schemes);
  for (const { protectedResource } of schemes) {
    if (!protectedResource) continue;
    addRoute(routes, protectedResource.path, metadataRoute(protectedResource, scopes));
  }
  requireFreePaths(routes, paths, definitions);
  const keyOf = (path: string) => (paths.ignorePathCase ? foldCase(path) : path);
  const routePaths = new Set(Array.from(routes.keys(), keyOf));
  const { operations, ...found } = readOperations(definitions, {
    basePath: restBasePath,
    ignorePathCase: paths.ignorePathCase,
    ignoreTrailingSlash: paths.ignoreTrailingSlash,
    links,
    isTaken: (path) => routePaths.has(keyOf(path)) || isBelow(keyOf(path), keyOf(trpcBasePath)),
    canSpool: options.spool !== undefined,
    operationId: options.operationId ?? ((path) => path),
    voidStatus: options.voidStatus ?? 204,
    strictness: options.strictness ?? 'strict',
    ignoreEmptyQuery: options.ignoreEmptyQuery ?? false,
  });
  const lines = formatProblems([...problems, ...found.problems]);
  if (lines.length > 0) {
    throw new GatewayError([...lines, ...(options.mcp?.problems(definitions) ?? [])].join('\n'));
  }
  for (const warning of formatProblems(found.warnings)) warn(warning);
  const document = lazyDocument({
    operations,
    document: options.document,
    server: links.rest,
    schemes,
    securitySchemes: options.securitySchemes,
    isRateLimited: options.rateLimit !== undefined,
    limitsAttempts: options.failedAttempts !== undefined,
    limits,
    errorFormat,
  });
  document.checkIds();
  const uploadBytes = operations.map(({ input }) => input.body?.upload?.maxBytes ?? 0);
  return {
    definitions,
    document,
    errorFormat,
    limits,
    links,
    maxStreamBytes: Math.max(limits.maxBodyBytes, ...uploadBytes),
    operations,
    ownOrigin: URL.canParse(links.origin) ? new URL(links.origin).origin : undefined,
    paths,
    routes,
    schemes,
    scopes,
  };
}

type ServiceParts<Identity> = Awaited<ReturnType<typeof readService<AnyTRPCRouter, Identity>>>;

/** Creates the policies, in the order in which they run, and the state that all requests share. */
function createPolicies<Router extends AnyTRPCRouter, Identity>(
  options: Options<Router, Identity>,
  { definitions, limits, operations, ownOrigin, schemes, scopes }: ServiceParts<Identity>,
) {
  const isProtected = schemes.length > 0;
  const mapError = options.mapError && errorMapper(options.mapError);
  const calls = new Calls(limits, options.telemetry !== undefined, mapError);
  const clientAddress = createClientAddress(options.trustProxy ?? []);
  const failedAttempts =
    options.failedAttempts && createFailedAttempts(options.failedAttempts, clientAddress, options.state);
  const rateLimit = options.rateLimit && createRateLimit(options.rateLimit, clientAddress, options.state);
  const allowsCredentials = createCredentialOrigins(
    options.cors?.credentials ? options.cors.origins : [],
    ownOrigin,
  );

  // After them, each call takes a place in `calls` and gets a deadline and a span.
  const own: readonly RequestPolicy<Identity>[] = [
    ...(options.mcp ? [toolOriginPolicy(options.cors?.origins ?? [], ownOrigin)] : []),
    calls,
    isProtected
      ? authenticationPolicy({ schemes, allowsCredentials, calls, failedAttempts })
      : crossSitePolicy(allowsCredentials),
    ...(scopes.length > 0 ? [scopesPolicy] : []),
    ...(rateLimit ? [rateLimit] : []),
    clientTimeoutPolicy,
    securityHeadersPolicy(isProtected),
    ...(options.cors ? [corsPolicy(options.cors, describedHeaders(operations, schemes))] : []),
  ];
  // Whatever the types of identity and data are: they are those of `authentication` and of the policies themselves.
  const added = (options.policies ?? []) as readonly Policy[];
  requirePolicies(added);
  const idempotency = definitions.some(({ idempotent }) => idempotent)
    ? createIdempotency(options.idempotency ?? {}, limits, calls, options.state)
    : undefined;
  const ofService = added.length > 0 ? policySteps(added) : undefined;
  const all = policySteps<RequestPolicy<Identity>>([...own, ...added]);
  const admitting = {
    rest: all.admitting,
    trpc: all.admitting,
    // Those of the service run when the message is read: its tool may be known only then.
    mcp: all.admitting.filter((policy) => policy.before ?? own.includes(policy)),
    other: all.early,
  };
  return {
    admitting,
    all,
    calls,
    clientAddress,
    failedAttempts,
    idempotency,
    ofService,
    own,
    rateLimit,
    mapError,
  };
}

type PolicyParts<Identity> = ReturnType<typeof createPolicies<AnyTRPCRouter, Identity>>;

/** Creates the protocols, which read requests into calls and encode their outcomes. */
function createProtocols<Router extends AnyTRPCRouter, Identity>(
  options: Options<Router, Identity>,
  service: ServiceParts<Identity>,
  { all, clientAddress, failedAttempts, mapError, ofService, rateLimit, ...running }: PolicyParts<Identity>,
) {
  const { maskUnexpectedErrors: isMasked = false, onError } = options;
  const { definitions, errorFormat, limits, links, operations, paths, routes, schemes } = service;
  const { maxResponseBytes } = limits;
  const config = syncConfig(options.router);
  const recorder = new Recorder(options);
  const reportError = onError && createReportError(onError);
  const errors = new TrpcErrors(config, { maxResponseBytes, isMasked, reportError });
  const { errorResponse, rejectionResponse } = createErrorResponses({
    format: errorFormat,
    maxResponseBytes,
    reportError,
    shapeOf: (error) => errors.shapeOf(error, error.path === undefined),
  });
  const toError: ToError = mapError ?? ((cause) => failureOf(cause).error);
  const createContext = mapError ? mapRejection(options.createContext, mapError) : options.createContext;
  const runSettings = { ...running, createContext, toError, limits, watch: createCredentialWatch() };
  const times = eventTimes(config);
  const rest = createRestProtocol({
    ...runSettings,
    operations,
    links,
    basePathLength: paths.restBasePath.length,
    matching: paths,
    spool: options.spool,
    errorResponse,
    ...times,
  });
  const trpcSettings: TrpcSettings = {
    ...runSettings,
    config,
    basePath: paths.trpcBasePath,
    trpc: trpcOptions(options.trpc, limits, reportError),
    procedures: new Map(definitions.map((definition) => [definition.path, definition])),
    readForm: createReadForm(operations, limits),
    eventTimes: times,
    errors,
  };
  const other = createRouteProtocol(routes, errorResponse);
  const mcp = options.mcp?.protocol({
    ...runSettings,
    procedures: definitions,
    server: { name: options.document.title, version: options.document.version },
    pingMs: times.pingMs,
    reportError,
    admitMessage: createMessageAdmission(rateLimit, ofService),
  });
  // The others have run when the request arrived.
  const afterEarly = all.admitting.slice(all.early.length);
  const sockets = new WebSockets({
    ...trpcSettings,
    admit: (context: RequestContext<Identity>) => admit(afterEarly, context),
    policies: ofService,
    rateLimit,
    allowsOrigin: createSocketOrigins(options.cors?.origins ?? [], service.ownOrigin),
    clientAddress,
    failedAttempts,
    keepAlive: options.sockets?.keepAlive,
    // A credential of the first scheme decides. That of another one may be replaced by connection parameters.
    awaitsParameters: (request) => schemes[0]?.read(request, request) === undefined && schemes.length > 0,
    starts: new SubscriptionStarts(service.limits),
    recorder,
  });
  return {
    protocolOf: createProtocolOf(paths, routes),
    protocols: {
      rest,
      trpc: createTrpcProtocol(trpcSettings),
      // Without `mcp`, no path selects it.
      mcp: mcp ?? other,
      other,
    },
    recorder,
    rejectionResponse,
    routeOf: createRouteOf(paths, routes, rest.routeOf),
    sockets,
  };
}

/**
 * Creates the function that admits a message whose request was admitted without the policies of the service: they see
 * the tool that it calls. A tool that the head did not name takes its cost, of which the request has paid one token.
 */
function createMessageAdmission<Identity>(
  rateLimit: PolicyParts<Identity>['rateLimit'],
  ofService: PolicyParts<Identity>['ofService'],
) {
  const policies = ofService ? ofService.admitting.slice(ofService.early.length) : [];
  return (
    context: RequestContext<Identity>,
    target = context.target,
  ): MaybePromise<TRPCError | undefined> => {
    const cost = context.target === target ? 0 : (target.cost ?? 1) - 1;
    context.target = target;
    const counted = cost > 0 ? rateLimit?.count(context, cost) : undefined;
    return mapMaybePromise(counted, (rejection) => rejection ?? admit(policies, context));
  };
}
