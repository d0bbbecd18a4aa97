import type { AnyTRPCRouter } from '@trpc/server';
import { createFetch, type Fetch } from './adapters/fetch/fetch.ts';
import { allowInexactHeaders } from './auth/authentication.ts';
import { GatewayError } from './checks/gatewayError.ts';
import { requireOptions } from './checks/optionRules.ts';
import { createPolicies } from './assembly/createPolicies.ts';
import { createProtocols } from './assembly/createProtocols.ts';
import { gatewayRules } from './assembly/gatewayRules.ts';
import type { RejectHttp, Service, Upgrade } from './http/service.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import type { AnyGatewayOptions, GatewayOptions } from './assembly/options.ts';
import { createCompression } from './policies/compression.ts';
import { createLoadShedding } from './policies/loadShedding.ts';
import type { ServedProcedure } from './procedures/procedure.ts';
import { createProtocolOf, RequestHandler } from './protocols/requestHandler.ts';
import { maxMessageSizeOf } from './protocols/trpc/options.ts';
import { readService } from './assembly/readService.ts';

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
  /** Whether responses to idempotency keys are in this process's memory only: another process runs a repeated call again. */
  readonly hasLocalIdempotencyKeys: boolean;
  /** Returns the OpenAPI document of the procedures with REST metadata. The first call generates it. */
  readonly document: () => Promise<OpenApiDocument>;
}

/**
 * Creates a gateway that serves a router as tRPC, REST and, with `mcp`, as tools. Serve it with an adapter, such as `serve` of
 * `trpc-gateway/uws`. The router and its schemas are not modified.
 *
 * ```ts
 * const gateway = await createGateway({
 *   router,
 *   createContext: () => ({}),
 *   document: { title: 'Pets', version: '1.0.0' },
 * });
 * await serve(gateway, { port: 3000 });
 * ```
 *
 * Unexpected errors are reported to `onResponse`; without it, they are written to stderr. Clients receive neither their
 * messages nor a stack of any error; `maskUnexpectedErrors: false` restores the texts of tRPC for development.
 * @throws {GatewayError} for invalid options, and with one line for each procedure that cannot be served: its name, the
 * reason and the fix
 */
export async function createGateway<Router extends AnyTRPCRouter, Identity, Data extends object = object>(
  options: GatewayOptions<Router, Identity, Data>,
): Promise<Gateway> {
  try {
    // The types of router, identity and data bind the options to each other. What follows accepts any.
    return await assemble(options as unknown as AnyGatewayOptions);
  } catch (error) {
    // The lines of this package say nothing about a problem of the application.
    if (error instanceof GatewayError) Error.captureStackTrace(error, createGateway);
    throw error;
  }
}

/** Reads the service, creates its policies and protocols, and the handler that runs them for each request. */
async function assemble(options: AnyGatewayOptions): Promise<Gateway> {
  requireOptions('createGateway', options, gatewayRules, '');
  const service = await readService(options);
  const { limits, maxStreamSize, ownOrigin, paths, routes, schemes } = service;
  const shared = createPolicies(options, service);
  const { calls, clientAddress, failedAttempts, idempotency, policies, recorder } = shared;
  const { protocols, rejectionResponse, routeOf, sockets } = createProtocols(options, service, shared);
  const { maxBodySize, maxQueueMs } = limits;
  const { compression, telemetry, trustProxy = [] } = options;
  const protocolOf = createProtocolOf(paths, routes);
  const publicScheme =
    ownOrigin === undefined ? undefined : ownOrigin.startsWith('https:') ? 'https' : 'http';
  const { handle, rejectHttp, shed, upgrade } = new RequestHandler({
    protocols,
    protocolOf,
    policies,
    compress: compression ? createCompression() : undefined,
    openSocket: (context) => sockets.upgrade(context),
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
    rejectionResponse,
  });
  return {
    handle,
    allowInexactHeaders: () => allowInexactHeaders(schemes),
    isBehindProxy: trustProxy.length > 0,
    serves: (path) => protocolOf(path) !== 'other' || routes.has(path),
    upgrade,
    ...(maxQueueMs < Infinity && { shed }),
    rejectHttp,
    fetch: createFetch({ handle, maxBodySize, maxStreamSize, rejectHttp }),
    maxBodySize,
    maxStreamSize,
    maxMessageSize: maxMessageSizeOf(limits),
    procedures: Array.from(service.procedures.values(), ({ path, type, execution }) => ({
      path,
      type,
      execution,
    })),
    callsInFlight: () => calls.inFlight,
    rejectedTokens: () => failedAttempts?.rememberedRejections() ?? 0,
    hasLocalIdempotencyKeys: idempotency !== undefined && options.state === undefined,
    document: () => service.document.value(),
  };
}
