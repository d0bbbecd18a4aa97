import { TRPCError, type AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import { Answer, type FailedCall } from './http/answer.ts';
import { createAuthentication } from './policies/authentication.ts';
import { Calls } from './policies/calls.ts';
import { loadTracing } from './policies/tracing.ts';
import { createCredentialWatch } from './policies/credentialWatch.ts';
import { createAnswerHeaders } from './policies/answerHeaders.ts';
import { createClientAddress } from './policies/clientAddress.ts';
import { createCors, type DescribedHeaders } from './policies/cors.ts';
import { createFailedAttempts } from './policies/failedAttempts.ts';
import { createGate } from './policies/gate.ts';
import { createLoadShedding } from './policies/loadShedding.ts';
import { createRateLimit } from './policies/rateLimit.ts';
import { createSocketOrigins } from './policies/socketOrigins.ts';
import { GatewayError } from './procedures/gatewayError.ts';
import { logUnexpected } from './policies/errorLog.ts';
import { createExchanges } from './policies/exchanges.ts';
import type { HttpRequest } from './http/request.ts';
import type { HttpResponse } from './http/response.ts';
import type { Handle, RejectHttp, Service, Shed, Upgrade } from './http/service.ts';
import { isZod } from './procedures/isZod.ts';
import { defaultBatchSize, limitsOf } from './policies/limits.ts';
import type { Exchange } from './policies/exchange.ts';
import type { GatewayOptions } from './options.ts';
import { procedureDefinitions, type ServedProcedure } from './procedures/procedures.ts';
import { createRestResponseMeta } from './protocols/rest/responseMeta.ts';
import { apiErrors } from './openapi/errorFormat.ts';
import { createFailure } from './protocols/rest/failure.ts';
import type { EventStreamTimes } from './http/serverSentEvents.ts';
import { createRestWire } from './protocols/rest/restWire.ts';
import type { OpenApiDocument } from './openapi/documentOptions.ts';
import { createRoutes, type Route } from './openapi/route.ts';
import { createRpcFailure, json } from './protocols/trpc/rpcFailure.ts';
import { createRpcWire } from './protocols/trpc/rpcWire.ts';
import { createSocketWire } from './protocols/trpc/socketWire.ts';

/** What `serve` takes, and what a service asks of its gateway. */
export interface Gateway extends Required<Service> {
  /** Every procedure of the router, lazy ones too, in its order. */
  readonly procedures: readonly ServedProcedure[];
  /** How many calls run now, on all faces. */
  readonly callsInFlight: () => number;
  /** How many tokens are remembered as not good: none without `failedAttempts`. */
  readonly refusedTokens: () => number;
  /** Tells every WebSocket client to connect anew, as tRPC's adapter does: before a deploy, say. */
  readonly broadcastReconnect: () => void;
  /** The OpenAPI 3.1 document of the procedures that carry REST metadata. It is made at the first call. */
  readonly document: () => Promise<OpenApiDocument>;
}

type Face = Exchange['face'];

/**
 * Derives routes, conversions and documents once, and gives what a host needs to serve the router. The user's schemas
 * are read and never changed. Serve it with `serve` of `@petstore/gateway/uws`. Unexpected errors are reported to
 * `onExchange`; where it is not given they are written to stderr. On the tRPC face a router's own `errorFormatter` and `isDev`
 * decide what a client sees of such an error: set `isDev: false` and replace the messages of causes.
 * @throws {GatewayError} one line for each procedure that cannot be served: its name, why, and the remedy
 */
export async function createGateway<Router extends AnyTRPCRouter, Identity>(
  options: GatewayOptions<Router, Identity>,
): Promise<Gateway> {
  requireSlashes(options);
  const restBasePath = withoutSlash(options.restBasePath ?? '/v1');
  const rpcBasePath = withoutSlash(options.rpcBasePath ?? '/trpc');
  const { documentPath = '/openapi.json', errorFormat = apiErrors } = options;
  const tell = (told: Exchange, failedCalls?: readonly FailedCall[]) => {
    try {
      if (options.onExchange) options.onExchange(told);
      else if (told.face !== 'rpc' || !options.rpc?.onError) logUnexpected(told, failedCalls);
    } catch {
      // The log itself has failed: there is nobody to tell, and the request is answered all the same.
    }
  };
  const limits = limitsOf(options);
  const isProtected = options.authenticate !== undefined;
  const origin = publicOrigin(options.publicUrl, restBasePath);
  const definitions = await procedureDefinitions(options.router);
  if (options.routes && documentPath in options.routes) {
    throw new GatewayError(
      `"${documentPath}" is the document's path and one of routes: give one of them another path.`,
    );
  }
  if (restBasePath === rpcBasePath) {
    throw new GatewayError(
      `REST and tRPC are both served below "${restBasePath}": give one of them another base path.`,
    );
  }
  const pagePaths = new Set([...Object.keys(options.routes ?? {}), documentPath]);
  const routes = createRoutes(
    definitions,
    restBasePath,
    (path) => pagePaths.has(path) || isBelow(path, rpcBasePath),
  );
  const clientAddress = createClientAddress(options.trustProxy ?? []);
  const failedAttempts =
    options.failedAttempts && createFailedAttempts(options.failedAttempts, clientAddress);
  const calls = new Calls(limits, await loadTracing());
  const authentication = createAuthentication(
    options.authenticate,
    options.realm ?? 'api',
    calls,
    failedAttempts,
  );
  const rateLimit = options.rateLimit && createRateLimit(options.rateLimit, clientAddress);
  const gate = createGate(calls, rateLimit);
  const cors = options.cors && createCors(options.cors, describedHeaders(routes));
  const rpc = {
    ...options.rpc,
    maxBatchSize: Math.min(options.rpc?.maxBatchSize ?? defaultBatchSize, limits.maxInFlight),
  };
  const watch = createCredentialWatch(options.authenticate);
  const failure = createFailure(errorFormat);
  const rpcFailure = createRpcFailure(options.router);
  const loadShedding = createLoadShedding(limits.maxQueueMs, {
    rest: failure,
    rpc: (error) => rpcFailure(error, [json]),
  });

  const restWire = createRestWire({
    routes,
    base: { origin, rest: `${origin}${restBasePath}` },
    basePathLength: restBasePath.length,
    limits,
    calls,
    gate,
    authentication,
    watch,
    createContext: options.createContext,
    failure,
    responseMeta: rpc.responseMeta && createRestResponseMeta(options.router, definitions, rpc.responseMeta),
    ...streamTimes(options.router),
  });
  const rpcWire = createRpcWire({
    router: options.router,
    basePath: rpcBasePath,
    rpc,
    limits,
    calls,
    gate,
    definitions,
    authentication,
    watch,
    publicProcedures: pathsOf(routes.filter(({ isPublic }) => isPublic)),
    subscriptions: new Set(definitions.flatMap(({ path, type }) => (type === 'subscription' ? [path] : []))),
    fail: rpcFailure,
    idempotentProcedures: pathsOf(routes.filter(({ rest }) => rest.idempotencyKey)),
    createContext: options.createContext,
  });

  const socketWire = createSocketWire({
    router: options.router,
    definitions,
    rpc,
    limits,
    calls,
    gate,
    rateLimit,
    allowsOrigin: createSocketOrigins(
      options.cors?.origins ?? [],
      origin === '' ? undefined : new URL(origin).origin,
    ),
    clientAddress,
    failedAttempts,
    sockets: options.sockets ?? {},
    isProtected,
    authentication,
    watch,
    createContext: options.createContext,
    tell,
    fail: rpcFailure,
  });

  let made: Promise<OpenApiDocument> | undefined;
  const document = () =>
    // The generator costs about 20 MB and 200 ms to load (trpc-to-openapi 3.3.0): only who asks for it pays.
    (made ??= import('./openapi/document.ts').then(({ createDocument }) =>
      createDocument(options.router, {
        routes,
        document: options.document,
        server: `${origin}${restBasePath}`,
        isProtected,
        isRateLimited: rateLimit !== undefined,
        limitsAttempts: failedAttempts !== undefined,
        limits,
        errorFormat,
      }),
    ));

  let documentText: Promise<string> | undefined;
  const pages = new Map<string, Handle>(Object.entries(options.routes ?? {}));
  pages.set(documentPath, async () => ({
    status: 200,
    headers: [['content-type', 'application/json']],
    body: await (documentText ??= document().then((value) => JSON.stringify(value))),
  }));

  const nowhere = () =>
    failure(new TRPCError({ code: 'NOT_FOUND', message: 'There is nothing at this path.' }));

  const exchange = createExchanges({
    tell,
    complete: createAnswerHeaders(cors, isProtected),
    failure,
    hasCors: cors !== undefined,
  });

  function dispatch(request: HttpRequest, face: Face, id: string): HttpResponse | Promise<HttpResponse> {
    if (face === 'rest') return restWire(request, id);
    if (face === 'rpc') return rpcWire(request, id);
    const page = pages.get(request.path);
    if (page === undefined) return nowhere();
    const allow = 'GET, HEAD, OPTIONS';
    if (request.method === 'OPTIONS') return new Answer(204, [['allow', allow]]);
    return request.method === 'GET' || request.method === 'HEAD'
      ? page(request)
      : failure(new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message: `This path takes ${allow}.` }), [
          ['allow', allow],
        ]);
  }

  const hasPageBelow = (base: string) => [...pages.keys()].some((page) => isBelow(page, base));
  const hasRpcPages = hasPageBelow(rpcBasePath);
  const hasRestPages = hasPageBelow(restBasePath);

  /** Pages are looked up last: it costs a hash of the path, and there is hardly ever one below a base path. */
  function faceOf(path: string): Face {
    if (isBelow(path, rpcBasePath)) return hasRpcPages && pages.has(path) ? 'other' : 'rpc';
    if (isBelow(path, restBasePath)) return hasRestPages && pages.has(path) ? 'other' : 'rest';
    return 'other';
  }

  const handle: Handle = (request) => {
    const face = faceOf(request.path);
    return exchange(request, face, (id) => {
      const answer = dispatch(request, face, id);
      if (answer instanceof Promise || answer.status !== 404 || !cors?.isPreflight(request)) return answer;
      // A browser asks no further where this fails, and keeps from its page what was missing (WHATWG Fetch §4.8).
      return new Answer(204, [...cors.headers(request.header('origin'), anyMethod)]);
    });
  };

  const upgrade: Upgrade = (request) =>
    // RFC 6455 §4.1
    request.method === 'GET' && faceOf(request.path) === 'rpc'
      ? exchange(request, 'rpc', (id) => socketWire.upgrade(request, id))
      : undefined;

  const shed: Shed = (request) => {
    const refusal = loadShedding(request);
    // A preflight costs what its refusal would, and a page that fails at it is not told why.
    if (refusal === undefined || request.method === 'OPTIONS') return undefined;
    const face = faceOf(request.path);
    // What is answered at once comes at once.
    return face === 'other' ? undefined : (exchange(request, face, () => refusal(face)) as HttpResponse);
  };

  const rejectHttp: RejectHttp = (request, { status, code, message }) => {
    const rejected = () => {
      const body = JSON.stringify(errorFormat.body({ code, message, status, issues: [], error: undefined }));
      const answer = new Answer(status, [['content-type', errorFormat.contentType]], body);
      if (status === 414) answer.limit = 'url-bytes';
      if (status === 431) answer.limit = 'header-bytes';
      return answer;
    };
    // What is answered at once comes at once.
    return exchange(request, faceOf(request.path), rejected) as HttpResponse;
  };

  return {
    handle,
    upgrade,
    shed,
    rejectHttp,
    maxBodyBytes: limits.maxBodyBytes,
    maxMessageBytes: options.sockets?.maxMessageBytes ?? Math.min(limits.maxBodyBytes, 65_536),
    maxUnauthenticatedBytes: options.sockets?.maxUnauthenticatedBytes ?? 65_536,
    procedures: definitions.map(({ path, type, way }) => ({ path, type, way })),
    callsInFlight: () => calls.inFlight,
    refusedTokens: () => failedAttempts?.known() ?? 0,
    broadcastReconnect: socketWire.broadcastReconnect,
    document,
  };
}

/** What a page may ask of a path where there is nothing, to be told so. */
const anyMethod = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** How long a stream of events may be quiet, and last: as the router's own `sse` has it for tRPC. */
function streamTimes({ _def: { _config } }: AnyTRPCRouter): EventStreamTimes {
  const { ping: { enabled = false, intervalMs = 1000 } = {}, maxDurationMs } = _config.sse ?? {};
  const isPinging = enabled && intervalMs > 0 && intervalMs !== Infinity;
  return { pingMs: isPinging ? intervalMs : undefined, maxDurationMs };
}

/** The headers that metadata describes, of requests and of answers. */
function describedHeaders(routes: readonly Route[]): DescribedHeaders {
  const names = (headers: object = {}) =>
    Object.keys(isZod(headers) ? (headers as z.ZodObject).shape : headers);
  return {
    request: routes.flatMap(({ rest }) => names(rest.requestHeaders)),
    response: routes.flatMap(({ rest }) => names(rest.responseHeaders)),
  };
}

const pathsOf = (routes: readonly Route[]) => new Set(routes.map(({ procedurePath }) => procedurePath));

const isBelow = (path: string, base: string) =>
  path.startsWith(base) && (path.length === base.length || path[base.length] === '/');

/** A base path without the slash at its end: `/` is `''`. */
const withoutSlash = (path: string) => path.replace(/\/+$/, '');

/** The types ask for them; plain JavaScript has none, and everything would be 404. */
function requireSlashes(
  options: Pick<
    GatewayOptions<AnyTRPCRouter, never>,
    'restBasePath' | 'rpcBasePath' | 'documentPath' | 'routes'
  >,
): void {
  const { restBasePath, rpcBasePath, documentPath, routes = {} } = options;
  const paths: readonly (readonly [name: string, path: string | undefined])[] = [
    ['restBasePath', restBasePath],
    ['rpcBasePath', rpcBasePath],
    ['documentPath', documentPath],
    ...Object.keys(routes).map((path) => ['A path of routes', path] as const),
  ];
  for (const [name, path] of paths) {
    if (path === undefined || path.startsWith('/')) continue;
    throw new GatewayError(`${name} is "${path}": it must start with a slash, such as "/${path}".`);
  }
}

function publicOrigin(publicUrl: string | undefined, restBasePath: string): string {
  if (publicUrl === undefined) return '';
  if (!URL.canParse(publicUrl) || !/^https?:/.test(publicUrl) || /[?#]/.test(publicUrl)) {
    throw new GatewayError(
      `publicUrl is ${publicUrl}; it must be an absolute http or https URL without query or fragment.`,
    );
  }
  const origin = withoutSlash(publicUrl);
  if (restBasePath !== '' && withoutSlash(new URL(origin).pathname).endsWith(restBasePath)) {
    throw new GatewayError(
      `publicUrl is ${publicUrl}: it must not end in the REST base path "${restBasePath}", which links and the document add to it. Use ${origin.slice(0, -restBasePath.length)}.`,
    );
  }
  return origin;
}
