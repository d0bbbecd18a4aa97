import type { AnyTRPCRouter, inferRouterContext } from '@trpc/server';
import type { HTTPBaseHandlerOptions, TRPCRequestInfo } from '@trpc/server/http';
import type { Authenticate } from './authentication.ts';
import type { CorsOptions } from './edge/cors.ts';
import type { FailedAttemptsOptions } from './edge/failedAttempts.ts';
import type { Limit } from './edge/limitError.ts';
import type { RateLimitOptions } from './edge/rateLimit.ts';
import type { GatewayRequest, Handle } from './http.ts';
import type { Limits } from './limits.ts';
import type { Reply } from './reply.ts';
import type { ErrorFormat } from './rest/errorFormat.ts';

/**
 * What `createContext` is given: once per REST call, once per tRPC request (a batch is one request), and once per
 * WebSocket, whose request is the one that opened it.
 */
export interface ContextOptions<Identity> {
  readonly request: GatewayRequest;
  /** What `authenticate` returned; `undefined` without `authenticate`, or where a public operation had no good credential. */
  readonly identity: Identity | undefined;
  /** What the procedure may say about its answer beyond its output. */
  readonly reply: Reply;
  /** The `X-Request-Id` of the answer. */
  readonly requestId: string;
  /**
   * The `Idempotency-Key` of a REST call, or of a single tRPC call, whose procedure takes one (`idempotencyKey` in its
   * metadata): 1 to 255 visible ASCII characters.
   */
  readonly idempotencyKey: string | undefined;
  /** What tRPC knows about the request; `undefined` for a REST call. */
  readonly info: TRPCRequestInfo | undefined;
}

/** One request that was answered, for logs and metrics. */
export interface Exchange {
  readonly requestId: string;
  /** The request's method; of a call on a WebSocket, `WS`: such calls have the request id of their socket. */
  readonly method: string;
  /** The path as received, without the query: a query may carry what no log should hold. */
  readonly path: string;
  readonly face: 'rest' | 'rpc' | 'other';
  /** The procedure's path as it was called (of a batch: joined by commas); `undefined` where none was reached. */
  readonly operation: string | undefined;
  /**
   * The procedures that were asked for, one for each call: fit to be a metric's labels, since what is none is left out.
   */
  readonly procedures: readonly string[];
  /** How many calls it asked for: the size of a batch. */
  readonly calls: number;
  readonly status: number;
  /** Whether it was answered by a stream, or a subscription: it is told of when that is over. */
  readonly isStream: boolean;
  readonly durationMs: number;
  /** The bytes of the request's body that had come by then; `undefined` where the host does not count them, and on a WebSocket. */
  readonly bytesIn: number | undefined;
  /** The bytes of the answer's body; `undefined` for a stream, and on a WebSocket. */
  readonly bytesOut: number | undefined;
  /** The limit that it met, if any: why it was refused, or some of its calls were. */
  readonly limit: Limit | undefined;
  /**
   * What failed, where a procedure or the gateway failed unexpectedly (5xx), be it in the midst of a stream. Its text is
   * for logs only.
   */
  readonly error: unknown;
}

/** What the OpenAPI document says about the service as a whole. */
export interface DocumentOptions {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  /** Of the interface: its name, and its SPDX expression. */
  readonly license?: { readonly name: string; readonly identifier?: string };
  /** Tags that group operations, with what each is about. */
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
}

/**
 * The options of tRPC's own adapters, as they are there. `onError` is given our request; a batch may have 100 calls
 * where `maxBatchSize` says nothing, and never more than `maxInFlight`.
 */
export type RpcOptions<Router extends AnyTRPCRouter> = Pick<
  HTTPBaseHandlerOptions<Router, GatewayRequest>,
  'allowBatching' | 'allowMethodOverride' | 'maxBatchSize' | 'responseMeta' | 'onError'
>;

/**
 * WebSockets. The options of tRPC's own adapter are as they are there; `maxBatchSize` and `onError` are `RpcOptions`'.
 */
// Spelled out: the adapter's own types (@trpc/server 11.25) import those of `ws`, which nobody needs here.
export interface SocketOptions {
  /** Pings each client after so many milliseconds of quiet, and closes the socket if nothing comes then. Default: not. */
  readonly keepAlive?: { enabled: boolean; pingMs?: number; pongWaitMs?: number };
  /** Stops answering clients' pings. Meant for tests. */
  readonly dangerouslyDisablePong?: boolean;
  /** Encodes and decodes messages, for formats other than JSON. tRPC may change it in any release. */
  readonly experimental_encoder?: {
    encode(data: unknown): string | Uint8Array<ArrayBuffer>;
    decode(data: string | ArrayBuffer | Uint8Array): unknown;
  };
  /**
   * The largest message that is taken, in bytes. A larger one closes the socket with 1009; where it has more than 64 KiB,
   * the connection ends without a close frame (1006). Each socket may hold as much of a message that it does not finish,
   * and nothing sees it: 1,000 sockets hold 1,000 times as much. Default: 65536, or `maxBodyBytes` where that is less.
   */
  readonly maxMessageBytes?: number;
  /**
   * How many bytes a socket may hold, unread or unfinished, whose client has sent no credential yet; beyond it is closed
   * (1008). uWebSockets.js cannot raise the limit of a socket that is open: one whose credential comes as connection
   * parameters takes no larger message later either. Send larger calls over HTTP (`splitLink`), or the credential in the
   * `Authorization` header of the request that opens the socket. Default: 65536.
   */
  readonly maxUnauthenticatedBytes?: number;
  /**
   * How many bytes may wait for a client that does not read, before its socket is closed (1013). Subscriptions that are
   * iterables wait long before that. Default: 1048576.
   */
  readonly maxBufferedBytes?: number;
  /** How many calls, subscriptions among them, one socket may run at once; one more closes it (1008). Default: 1000. */
  readonly maxCallsPerSocket?: number;
  /** How long a socket may take to send its credential as connection parameters, in milliseconds. Default: 5000. */
  readonly credentialDeadlineMs?: number;
  /** How many sockets may be about to do so at once; further ones are answered 503. Default: 1000. */
  readonly maxWaiting?: number;
  /**
   * How many of them one client address (`trustProxy`; of IPv6 a /64) may have; further ones are answered 503, and those
   * of other addresses are not. Default: 100, a tenth of `maxWaiting`, so that one address cannot take it all. Where all
   * clients come from one address, as behind a proxy that `trustProxy` does not name, it still lets in some 1,000 sockets
   * a second: each waits for a round trip and the look-up of its key.
   */
  readonly maxWaitingPerAddress?: number;
}

export interface GatewayOptions<Router extends AnyTRPCRouter, Identity> extends Partial<Limits> {
  readonly router: Router;
  /**
   * Checks a bearer token (RFC 6750), once per request and before anything else of it is looked at, and about once a
   * second while a WebSocket or a stream of events goes on that began with it. A falsy value refuses it (401), and ends those (1008).
   * A `TRPCError` thrown here is the answer: `SERVICE_UNAVAILABLE` where the keys cannot be read.
   * Without this option no credential is asked for. Write it before `createContext`, which then knows its type.
   */
  readonly authenticate?: Authenticate<Identity>;
  readonly createContext: (
    options: ContextOptions<Identity>,
  ) => inferRouterContext<Router> | Promise<inferRouterContext<Router>>;
  /** The realm of `WWW-Authenticate`. Default: `api`. */
  readonly realm?: string;
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
  /** The origin, and path if any, in front of a proxy: prefix of `Location`, `Link` and the document's `servers`. */
  readonly publicUrl?: string;
  /**
   * How many calls each credential may make, over REST, tRPC and WebSocket together; further ones are answered 429. It
   * counts in this process alone. Default: no such limit.
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
   * Addresses and CIDR ranges of the proxies in front, whose `X-Forwarded-For` tells the client's address. Default:
   * none, the peer is the client.
   */
  readonly trustProxy?: readonly string[];
  /** Which pages of other origins may call. Default: none, and answers say nothing of it. */
  readonly cors?: CorsOptions;
  /** The body of REST errors; the document follows it. Default: `{ code, message, status }`. */
  readonly errorFormat?: ErrorFormat;
  /** Paths outside the router, served for GET and HEAD without a credential: a health check, a page. */
  readonly routes?: Readonly<Record<`/${string}`, Handle>>;
  /**
   * Called after each answer is made, and of a stream after its end, with what a log line or a metric needs. What it
   * throws is dropped. Default: unexpected errors (5xx) are written to stderr with their stack; over tRPC only where
   * `rpc.onError` is not given either.
   */
  readonly onExchange?: (exchange: Exchange) => void;
}
