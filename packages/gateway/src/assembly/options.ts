import type { AnyTRPCRouter, inferRouterContext, TRPCError } from '@trpc/server';
import type { Spool } from '../http/upload.ts';
import type { DocumentOptions } from '../openapi/document.ts';
import type { ErrorFormat } from '../operations/errorFormat.ts';
import type { CorsOptions } from '../policies/cors.ts';
import type { RequestRecord } from '../calls/requestRecord.ts';
import type { FailedAttemptsOptions } from '../auth/failedAttempts.ts';
import type { ReportedError } from '../calls/reportError.ts';
import type { Policy } from '../calls/policy.ts';
import type { IdempotencyOptions } from '../policies/idempotency.ts';
import type { Limits } from '../calls/limits.ts';
import type { RateLimitOptions } from '../policies/rateLimit.ts';
import type { Routes } from '../calls/routes.ts';
import type { Scheme } from '../calls/scheme.ts';
import type { State } from '../state/sharedState.ts';
import type { Telemetry } from '../calls/telemetry.ts';
import type { OutputSchemas } from '../schemas/inferredOutput.ts';
import type { ContextOptions } from '../procedures/contextOptions.ts';
import type { Compatibility, DescribedProcedure, RestMeta } from '../procedures/meta.ts';
import type { McpEndpoint } from '../protocols/mcpEndpoint.ts';
import type { TrpcOptions, SocketOptions } from '../protocols/trpc/options.ts';

type inferRouterMeta<Router extends AnyTRPCRouter> = Router['_def']['_config']['$types']['meta'];

/** Options of `createGateway`. */
export interface GatewayOptions<
  Router extends AnyTRPCRouter,
  Identity,
  Data extends object = object,
> extends Partial<Limits> {
  /** The tRPC router to serve. It is not modified. */
  readonly router: Router;
  /**
   * How clients authenticate: `bearer`, `apiKey`, `cookie` or `custom`, or a list of these. With a list, the
   * first scheme that finds its credential in the request decides; the rest are ignored. Default: no authentication.
   *
   * Write this option before `createContext`, so that TypeScript infers the type of `identity` there.
   */
  readonly authentication?: Scheme<Identity> | readonly Scheme<Identity>[];
  /**
   * Creates the context of procedures: once per REST call, once per tRPC request (a batch is one request), and once per
   * WebSocket. It receives the request, the identity of the caller, and the controls of the response.
   * @example
   * createContext: ({ identity, request, response }) => ({ user: identity, response })
   */
  readonly createContext: (
    options: ContextOptions<Identity, Data>,
  ) => inferRouterContext<Router> | Promise<inferRouterContext<Router>>;
  /** Base path of the procedures with REST metadata. `/` is possible. Default: `/v1`. */
  readonly restBasePath?: `/${string}`;
  /** Base path of tRPC, over HTTP and WebSocket; `/` only without REST. Default: `/trpc`. */
  readonly trpcBasePath?: `/${string}`;
  /**
   * Options of tRPC's own adapters: `allowBatching`, `allowMethodOverride`, `maxBatchSize`, `responseMeta` and `onError`.
   * Default: as in tRPC's adapters, but at most `maxInFlight` calls in a batch.
   */
  readonly trpc?: TrpcOptions<Router>;
  /** Heartbeats of WebSockets, which are served at `trpcBasePath`. Default: none. */
  readonly sockets?: SocketOptions;
  /**
   * Serves procedures with `mcp` in their metadata, and those that its option `tools` chooses, as tools of the Model
   * Context Protocol, at `/mcp`: `mcp()` of `trpc-gateway/mcp`. Its name and version are those of `document`. Default: none.
   */
  readonly mcp?: McpEndpoint;
  /**
   * The OpenAPI document: its title and version, the path at which it is served, and further members.
   * @example
   * document: { title: 'Books', version: '1.0.0' }
   */
  readonly document: DocumentOptions;
  /**
   * Whether procedures without `openapi` in their metadata are served over REST too, or a function that returns it, or
   * the metadata, for each of them. The default method and path are those of `method` and `path` in `RestMeta`.
   * Subscriptions are left out unless `outputs` describes their events, which REST needs. Default: false.
   * REST sends JSON and never uses the router's transformer: without `.output()`, a `Map` or `Set` is sent as `{}`, and a
   * `bigint` is a 500. With `.output()`, `createGateway` rejects what JSON cannot have.
   * @example
   * openapi: ({ path }) => !path.startsWith('internal.')
   */
  readonly openapi?:
    | boolean
    | ((procedure: DescribedProcedure<inferRouterMeta<Router>>) => boolean | RestMeta);
  /**
   * JSON Schemas of what procedures without `.output()` return, from their types: the file that `trpc-gateway-typegen outputs`
   * writes. The document and the tools have them. Outputs are not checked: a property that the type hides is still sent, as over
   * tRPC. Default: none.
   * @example
   * import outputs from './outputs.json' with { type: 'json' };
   * await createGateway({ router, createContext, document, outputs });
   */
  readonly outputs?: OutputSchemas;
  /**
   * URL under which clients reach the gateway. It becomes the prefix of URLs in `Location`, `Link` and the document's
   * `servers`; the paths that the gateway serves do not change. Set it behind a proxy, to an origin with an optional
   * path, and if the gateway is mounted in another server, to the path of the mount. Default: none; URLs begin with the
   * gateway's own paths.
   * @example
   * publicUrl: 'https://pets.example/store' // behind a proxy
   * publicUrl: '/api' // mounted at /api
   */
  readonly publicUrl?: string;
  /**
   * Limits the calls of each credential, over REST, tRPC and WebSocket together. Calls over the limit get 429.
   * Default: no limit.
   * @example
   * rateLimit: { calls: 100, windowMs: 60_000 }
   */
  readonly rateLimit?: RateLimitOptions<Identity>;
  /**
   * Limits the invalid credentials that one client address may try. Over the limit, an invalid credential gets 429
   * instead of 401; a valid one is always accepted. Default: no limit.
   *
   * A WebSocket that sends no credential in time counts as an invalid credential. Over the limit, an address can open
   * further WebSockets only with a credential in the upgrade request; others get 429.
   * @example
   * failedAttempts: { attempts: 10, windowMs: 60_000 }
   */
  readonly failedAttempts?: FailedAttemptsOptions;
  /**
   * How long to store responses of procedures with `idempotencyKey: 'optional'` or `'required'` in their metadata, and
   * for whom. Default: for 24 hours, by credential.
   */
  readonly idempotency?: IdempotencyOptions<Identity>;
  /**
   * What several processes share: the counts of `rateLimit` and `failedAttempts`, and the responses of idempotency keys.
   * While it cannot be reached, each process counts separately, and calls with a key are rejected with 503. WebSockets
   * that send no credential in time are also limited by each process separately. Default: `memoryState()`, the memory of
   * this process only.
   */
  readonly state?: State;
  /**
   * Addresses and CIDR ranges of your proxies. If one of them sends a request, by the address of its connection or the
   * `remoteAddress` of `gateway.fetch`, the client's address is read from `X-Forwarded-For`. Default: none; the client's
   * address is that of the connection, so limits per address count all clients behind a proxy as one.
   * @example
   * trustProxy: ['10.0.0.0/8']
   */
  readonly trustProxy?: readonly string[];
  /**
   * CORS: the origins whose web pages may call the gateway. Default: none; responses have no CORS headers.
   * @example
   * cors: { origins: ['https://shop.example'] }
   */
  readonly cors?: CorsOptions;
  /**
   * Compresses responses with zstd, br or gzip, as `Accept-Encoding` allows (RFC 9110 §12.5.3), over every protocol: text,
   * JSON and the like of at least 1,024 bytes, and streams, of which each event and each line is sent at once. Not
   * compressed are responses that set a cookie, that have a `Content-Encoding` or `Cache-Control: no-transform`, and those
   * of procedures with `compression: false` in their metadata. It needs `node:zlib`, which Node, Bun and Deno have.
   *
   * Leave it out if a proxy compresses, and for responses that repeat input beside a secret (BREACH). Default: false.
   * @example
   * compression: true
   */
  readonly compression?: boolean;
  /** Records traces and metrics of calls: `await openTelemetry()` of `trpc-gateway-runtime/opentelemetry`. Default: none. */
  readonly telemetry?: Telemetry | undefined;
  /**
   * Serves the clients of trpc-to-openapi 3.3 over REST, as `trpcToOpenApi()` of `trpc-gateway/trpc-to-openapi` sets it:
   * - Paths match with a slash at their end and in any case, except the values of their parameters: `/V1/Pets/` as
   *   `/v1/pets`. The rest of a path, `{+name}`, keeps its slash.
   * - Values of zod schemas are converted by `Number`, `Boolean`, `BigInt` and `new Date`, in nested objects and arrays
   *   too. Schemas of other libraries are always strict.
   * - A procedure that returns `undefined` responds with 200, an empty body and `application/json`, unless its
   *   metadata has a `successStatus`.
   * - With `trpc-to-openapi-express`, a parameter of a query with an empty value, `?search=`, is absent, as on Express.
   *
   * `openapi.compatibility` in the metadata of a procedure keeps all but its path. Default: none. Paths match exactly
   * (RFC 3986 §6.2.2.1), text becomes a value only if it represents that value exactly, JSON only if it is a date-time,
   * and the status is 204.
   */
  readonly compatibility?: Compatibility | undefined;
  /**
   * Body of REST errors, in responses and in the document: `problemDetails` (RFC 9457),
   * `trpcToOpenApiErrors` of `trpc-gateway/trpc-to-openapi`, or your own. Errors over tRPC have the format of the
   * router's `errorFormatter`. Default: `{ code, message, status }`, and `data` of a declared error.
   */
  readonly errorFormat?: ErrorFormat;
  /**
   * Whether the messages of unexpected errors and the stacks of all errors are hidden from clients, whatever `isDev` of
   * the router is. Unexpected is what a procedure, a middleware or `createContext` throws that is not a `TRPCError`, the
   * cause of a `TRPCError` without a `message`, and an `INTERNAL_SERVER_ERROR` with a `cause`, such as an invalid output.
   * Clients receive its code as text, such as "Internal server error"; `onError`, `onResponse` and the `error` of an
   * `errorFormatter` keep the original.
   *
   * With false, clients of tRPC receive what tRPC's adapters send: these messages, and with `isDev` stacks. That is for
   * development. REST sends these messages only in an `errorFormat` that uses `shape`, such as `trpcToOpenApiErrors`, and
   * MCP never; neither sends stacks. Default: true.
   */
  readonly maskUnexpectedErrors?: boolean;
  /**
   * Maps an error of the application to the one that clients receive, over every protocol: an error of a procedure, its
   * middlewares, its parsers, its stream, or of `createContext`. `error.cause` is what was thrown, if that was not a
   * `TRPCError`. It is not called for limits and rejected requests. Return one of these:
   * - a `TRPCError`. Its message is sent. Give an `INTERNAL_SERVER_ERROR` a message of its own: without one, tRPC copies
   *   that of the cause, which may be a driver's and is hidden.
   * - an error of `declareErrors`. Every procedure sends it with its declared code, status and data.
   * - `undefined` to keep the error.
   *
   * It must be synchronous. If it throws or returns a promise, clients receive a 500 whose cause is an `AggregateError` of
   * both. `onError` receives the original error, and so does `onResponse` if clients receive a 5xx. Default: errors are
   * sent as they are.
   * @example
   * mapError: ({ cause }) =>
   *   cause instanceof AppError ? new TRPCError({ code: 'NOT_FOUND', message: cause.message, cause }) : undefined
   */
  readonly mapError?: (error: TRPCError) => TRPCError | undefined;
  /**
   * Stores uploaded files outside of memory. Required if the metadata of a procedure has `upload: { spool: true }`. Pass
   * `temporaryFiles()` of `trpc-gateway/node`, or your own function. Default: none.
   */
  readonly spool?: Spool;
  /**
   * Further routes, such as health checks and webhooks. A key without a method serves GET and HEAD. They
   * need no credential. A route may be below a base path, except at the path of a procedure. `OPTIONS`,
   * 405 and CORS are handled as for procedures. Default: none.
   * @example
   * routes: {
   *   '/healthz': () => ({ status: 200, headers: [], body: 'ok' }),
   *   'POST /webhooks/stripe': receiveWebhook,
   * }
   */
  readonly routes?: Routes;
  /**
   * Rules of your own for requests of every protocol: a limit per tenant, a maintenance mode, an audit log. They have the
   * interface of the gateway's own policies, and run in this order. Default: none.
   *
   * Write this option before `createContext`, so that TypeScript infers the type of `data` there.
   * @example
   * policies: [{ complete: (_context, response) => response.header('x-served-by', 'books-1') }]
   */
  readonly policies?: readonly Policy<Identity, Data>[];
  /**
   * Called with each error that a client receives, including 4xx, from any protocol or policy, and with that of a download
   * or a route's stream that fails. It may be asynchronous; the gateway does not wait for it, and errors that it throws or
   * rejects with are ignored. If it is set, the gateway does not write unexpected errors to stderr.
   *
   * `trpc.onError` is a different hook, that of tRPC's adapters: it receives only errors over tRPC.
   */
  readonly onError?: (error: ReportedError<inferRouterContext<Router>>) => unknown;
  /**
   * Called after each response is complete (for a stream, after its end) with a record for logs and metrics. It may be
   * asynchronous; the gateway does not wait for it, and errors that it throws or rejects with are ignored.
   *
   * Default: unexpected errors (5xx) are written to stderr with their stack, unless `onError` is set. `trpc.onError` turns
   * this off for errors over tRPC.
   * @example
   * onResponse: ({ method, path, status, durationMs }) => console.log(method, path, status, durationMs)
   */
  readonly onResponse?: (record: RequestRecord) => unknown;
}

/** Options of `createGateway`, whatever its router, identity and data are. */
export type AnyGatewayOptions = GatewayOptions<AnyTRPCRouter, unknown>;
