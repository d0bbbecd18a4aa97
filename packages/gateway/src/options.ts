import type { AnyTRPCRouter, inferRouterContext } from '@trpc/server';
import { memberNames } from './http/unknownOptions.ts';
import type { Spool } from './http/upload.ts';
import type { DocumentOptions } from './openapi/document.ts';
import type { ErrorFormat } from './openapi/errorFormat.ts';
import type { CorsOptions } from './policies/cors.ts';
import type { RequestRecord } from './policies/requestRecord.ts';
import type { FailedAttemptsOptions } from './policies/failedAttempts.ts';
import type { Hooks } from './policies/hooks.ts';
import type { IdempotencyOptions } from './policies/idempotency.ts';
import type { Limits } from './policies/limits.ts';
import type { RateLimitOptions } from './policies/rateLimit.ts';
import type { Routes } from './policies/routes.ts';
import type { Scheme } from './policies/scheme.ts';
import type { Telemetry } from './policies/telemetry.ts';
import type { ContextOptions } from './procedures/contextOptions.ts';
import type { JsonSchemaConverters } from './procedures/standardSchema.ts';
import type { RpcOptions, SocketOptions } from './protocols/trpc/options.ts';

export interface GatewayOptions<Router extends AnyTRPCRouter, Identity>
  extends Partial<Limits>, Hooks<inferRouterContext<Router>> {
  readonly router: Router;
  /**
   * How clients authenticate: `bearer`, `apiKey`, `cookie`, `basic` or `custom`, or a list of them. Of a list, the first
   * scheme decides whose credential a request has, and the others are not looked at. Without this option no credential is
   * required. Write it before `createContext`, which then knows the type of the identity.
   */
  readonly authentication?: Scheme<Identity> | readonly Scheme<Identity>[];
  readonly createContext: (
    options: ContextOptions<Identity>,
  ) => inferRouterContext<Router> | Promise<inferRouterContext<Router>>;
  /** Where procedures with REST metadata are served. Default: `/v1`. */
  readonly restBasePath?: `/${string}`;
  /** Where tRPC is served. Default: `/trpc`. */
  readonly rpcBasePath?: `/${string}`;
  /** What tRPC's adapters take besides. */
  readonly rpc?: RpcOptions<Router>;
  /** WebSockets, at the tRPC base path. */
  readonly sockets?: SocketOptions;
  /** Where the OpenAPI document is served. Default: `/openapi.json`. */
  readonly documentPath?: `/${string}`;
  readonly document: DocumentOptions;
  /**
   * What stands before the gateway's paths for clients: prefix of `Location`, `Link` and the document's `servers`. Behind a
   * proxy an origin, and path if any (`https://pets.example/store`); mounted in another server, the path of the mount
   * (`/api`).
   */
  readonly publicUrl?: string;
  /**
   * How many calls each credential may make, over REST, tRPC and WebSocket together; further ones are answered 429. It
   * counts in this process alone, or with others that have its `state`. Default: no such limit.
   */
  readonly rateLimit?: RateLimitOptions<Identity>;
  /**
   * How many tokens that are not good one client address may try; further ones are answered 429 in place of 401, and a
   * good one never is. A WebSocket that sends no credential in time counts as one. After so many of those, further
   * sockets of the address must bring theirs with the request that opens them: others are answered 429. Default: no such
   * limit.
   */
  readonly failedAttempts?: FailedAttemptsOptions;
  /**
   * Where and how long the responses of procedures are stored whose metadata has `idempotencyKey` beside `openapi`. Default:
   * in the memory of this process, for 24 hours.
   */
  readonly idempotency?: IdempotencyOptions<Identity>;
  /**
   * Addresses and CIDR ranges of the proxies in front, whose `X-Forwarded-For` tells the client's address. Default:
   * none, the peer is the client.
   */
  readonly trustProxy?: readonly string[];
  /** Which pages of other origins may call. Default: none, and answers say nothing of it. */
  readonly cors?: CorsOptions;
  /**
   * Observes requests and calls for traces and metrics: `await openTelemetry()` of `@petstore/runtime/opentelemetry`.
   * Default: nothing is observed.
   */
  readonly telemetry?: Telemetry | undefined;
  /** The body of REST errors; the document follows it. Default: `{ code, message, status }`. */
  readonly errorFormat?: ErrorFormat;
  /**
   * How schemas of other libraries than zod become JSON Schema, where they do not describe themselves
   * (`~standard.jsonSchema`, as ArkType's do), by the library's name: `{ valibot: toStandardJsonSchema }`.
   */
  readonly jsonSchema?: JsonSchemaConverters;
  /**
   * Keeps the files of forms outside of memory, of procedures whose metadata says `upload: { spool: true }`:
   * `temporaryFiles()` of `@petstore/gateway/node`, or a function of your own.
   */
  readonly spool?: Spool;
  /**
   * Paths beside the router, for GET and HEAD: `'/healthz': handler`; or for a method: `'POST /webhooks/stripe': handler`.
   * They need no credential, unless with `{ handler, protect: true }`. They may be below a base path, where no procedure is
   * served. `OPTIONS`, 405 and CORS follow.
   */
  readonly routes?: Routes<Identity>;
  /**
   * Called after each answer is made, and of a stream after its end, with what a log line or a metric needs. What it
   * throws is dropped. Default: unexpected errors (5xx) are written to stderr with their stack, unless `onError` is given;
   * over tRPC only where `rpc.onError` is not given either.
   */
  readonly onResponse?: (record: RequestRecord) => void;
}

type AnyOptions = GatewayOptions<AnyTRPCRouter, unknown>;

/** What the value of an option must be, where it is set. `checked` is left to the code that reads the option. */
export type Expected = 'checked' | 'function' | 'object' | 'string';

/** The options of `createGateway`, and what `requireOptions` expects of them. */
export const gatewayOptions = {
  router: 'checked',
  authentication: 'checked',
  createContext: 'function',
  restBasePath: 'string',
  rpcBasePath: 'string',
  rpc: 'object',
  sockets: 'object',
  documentPath: 'string',
  document: 'object',
  publicUrl: 'string',
  rateLimit: 'object',
  failedAttempts: 'object',
  idempotency: 'object',
  trustProxy: 'checked',
  cors: 'object',
  telemetry: 'object',
  errorFormat: 'object',
  jsonSchema: 'object',
  routes: 'object',
  spool: 'function',
  onRequest: 'function',
  onCall: 'function',
  onSend: 'function',
  onError: 'function',
  onResponse: 'function',
  maxBodyBytes: 'checked',
  maxResponseBytes: 'checked',
  maxQueryParameters: 'checked',
  maxJsonDepth: 'checked',
  maxInFlight: 'checked',
  maxQueueMs: 'checked',
  callTimeoutMs: 'checked',
} satisfies Record<keyof AnyOptions, Expected>;

/** The members of options that are objects, by the path of the option. */
export const nestedOptions: Readonly<Record<string, readonly string[]>> = {
  rpc: memberNames<RpcOptions<AnyTRPCRouter>>({
    allowBatching: true,
    allowMethodOverride: true,
    maxBatchSize: true,
    responseMeta: true,
    onError: true,
  }),
  sockets: memberNames<SocketOptions>({
    keepAlive: true,
    dangerouslyDisablePong: true,
    experimental_encoder: true,
    maxMessageBytes: true,
    maxUnauthenticatedBytes: true,
    maxBufferedBytes: true,
    maxCallsPerSocket: true,
    credentialDeadlineMs: true,
    maxWaiting: true,
    maxWaitingPerAddress: true,
  }),
  'sockets.keepAlive': memberNames<NonNullable<SocketOptions['keepAlive']>>({
    enabled: true,
    pingMs: true,
    pongWaitMs: true,
  }),
  document: memberNames<DocumentOptions>({
    title: true,
    version: true,
    description: true,
    license: true,
    openapi: true,
    tags: true,
    transform: true,
  }),
  'document.license': memberNames<NonNullable<DocumentOptions['license']>>({ name: true, identifier: true }),
  rateLimit: memberNames<RateLimitOptions<unknown>>({
    requests: true,
    windowSeconds: true,
    key: true,
    state: true,
  }),
  failedAttempts: memberNames<FailedAttemptsOptions>({ attempts: true, windowSeconds: true, state: true }),
  idempotency: memberNames<IdempotencyOptions<unknown>>({
    state: true,
    ttlMs: true,
    maxBytes: true,
    caller: true,
  }),
  cors: memberNames<CorsOptions>({
    origins: true,
    credentials: true,
    allowHeaders: true,
    exposeHeaders: true,
    maxAgeSeconds: true,
  }),
};
