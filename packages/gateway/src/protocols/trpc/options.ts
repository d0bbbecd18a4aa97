import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import type { HTTPBaseHandlerOptions } from '@trpc/server/http';
import type { MaybePromise } from '../../http/maybePromise.ts';
import type { HttpRequest } from '../../http/request.ts';
import { defaultMessageBytes } from '../../http/service.ts';
import type { Calls } from '../../policies/calls.ts';
import type { ClientAddress } from '../../policies/clientAddress.ts';
import type { CredentialWatch } from '../../policies/credentialWatch.ts';
import type { RequestRecord } from '../../policies/requestRecord.ts';
import type { FailedAttempts } from '../../policies/failedAttempts.ts';
import type { ErrorReporter } from '../../policies/hooks.ts';
import type { Idempotency } from '../../policies/idempotency.ts';
import { defaultBatchSize, requirePositiveIntegers, type Limits } from '../../policies/limits.ts';
import type { Target } from '../../policies/policy.ts';
import type { RateLimit } from '../../policies/rateLimit.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import type { SocketOrigins } from '../../policies/socketOrigins.ts';
import type { ContextOptions } from '../../procedures/contextOptions.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import type { TrpcErrorResponse } from './errorResponse.ts';

/**
 * The options of tRPC's own adapters, as they are there. `onError` is given our request; a batch may have 100 calls
 * where `maxBatchSize` says nothing, and never more than `maxInFlight`.
 */
export type RpcOptions<Router extends AnyTRPCRouter> = Pick<
  HTTPBaseHandlerOptions<Router, HttpRequest>,
  'allowBatching' | 'allowMethodOverride' | 'maxBatchSize' | 'responseMeta' | 'onError'
>;

/** The options with what else decides: `maxInFlight`, and `onError` of the gateway, which is called before theirs. */
export function rpcSettings<Router extends AnyTRPCRouter>(
  options: RpcOptions<Router> = {},
  { maxInFlight }: Limits,
  reporter: ErrorReporter | undefined,
): TrpcSettings['rpc'] {
  const rpc = options as RpcOptions<AnyTRPCRouter>;
  return {
    ...rpc,
    ...(reporter && { onError: reportedToBoth(reporter, rpc.onError) }),
    maxBatchSize: Math.min(rpc.maxBatchSize ?? defaultBatchSize, maxInFlight),
  };
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

/** What all requests over HTTP share. */
export interface TrpcSettings {
  readonly config: AnyTRPCRouter['_def']['_config'];
  /** Without a slash at its end. */
  readonly basePath: string;
  readonly rpc: RpcOptions<AnyTRPCRouter> & { readonly maxBatchSize: number };
  readonly limits: Limits;
  readonly calls: Calls;
  readonly watch: CredentialWatch;
  readonly procedures: ReadonlyMap<string, Procedure>;
  /** The procedures that need no credential. */
  readonly publicProcedures: ReadonlySet<string>;
  /** The procedures that take an `Idempotency-Key`. */
  readonly idempotentProcedures: ReadonlySet<string>;
  /** `undefined` where no procedure needs it. */
  readonly idempotency: Pick<Idempotency<unknown>, 'begin'> | undefined;
  readonly errorResponse: TrpcErrorResponse;
  // A method, so that any type of identity fits.
  createContext(options: ContextOptions<unknown>): unknown;
}

/** What all WebSockets share. */
export interface SocketSettings extends TrpcSettings {
  readonly sockets: SocketOptions & SocketLimits;
  readonly rateLimit: Pick<RateLimit<unknown>, 'count'> | undefined;
  readonly failedAttempts: FailedAttempts | undefined;
  readonly allowsOrigin: SocketOrigins;
  readonly clientAddress: ClientAddress;
  /** Whether a socket's connection parameters decide on its credential, if it sends any: not the request that opens it. */
  awaitsParameters(request: HttpRequest): boolean;
  /** Decides on a request, or on the credential of a socket, by the policies. */
  admit(scope: RequestScope, target: Target): MaybePromise<TRPCError | undefined>;
  /** Reports each call, and each malformed message. It does not throw. */
  emit(record: RequestRecord): void;
}

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

const socketLimits = {
  maxMessageBytes: defaultMessageBytes,
  maxUnauthenticatedBytes: defaultMessageBytes,
  maxBufferedBytes: 1_048_576,
  maxCallsPerSocket: 1000,
  credentialDeadlineMs: 5000,
  maxWaiting: 1000,
  maxWaitingPerAddress: 100,
};

type SocketLimits = Readonly<typeof socketLimits>;

/** @throws {GatewayError} for a limit that is not a positive integer */
export function withSocketLimits(options: SocketOptions, maxBodyBytes: number): SocketSettings['sockets'] {
  const defaults = {
    ...socketLimits,
    maxMessageBytes: Math.ceil(Math.min(defaultMessageBytes, maxBodyBytes)),
  };
  const limits = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, options[name as keyof SocketLimits] ?? value]),
  ) as SocketLimits;
  requirePositiveIntegers('sockets', limits);
  return { ...options, ...limits };
}
