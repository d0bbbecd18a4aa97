import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import type { HTTPBaseHandlerOptions } from '@trpc/server/http';
import type { MaybePromise } from '../../http/maybePromise.ts';
import type { HttpRequest } from '../../http/request.ts';
import { defaultMessageBytes } from '../../http/service.ts';
import type { ClientAddress } from '../../calls/clientAddress.ts';
import type { CredentialWatch } from '../../auth/credentialWatch.ts';
import type { Recorder } from '../../calls/recorder.ts';
import type { FailedAttempts } from '../../auth/failedAttempts.ts';
import type { ReportError } from '../../calls/reportError.ts';
import { type AllLimits, defaultBatchSize, type Limits } from '../../calls/limits.ts';
import type { Policy, PolicySteps } from '../../calls/policy.ts';
import type { RateLimit } from '../../policies/rateLimit.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import type { SocketOrigins } from '../../auth/socketOrigins.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import type { RunSettings } from '../requestRun.ts';
import type { TrpcErrors } from './trpcErrors.ts';

/**
 * Options of tRPC over HTTP, with the meaning they have in tRPC's own adapters. Two differ: `onError` receives the
 * gateway's `HttpRequest` as `req`, and `maxBatchSize` defaults to 100 and is at most `maxInFlight`.
 */
export type TrpcOptions<Router extends AnyTRPCRouter> = Pick<
  HTTPBaseHandlerOptions<Router, HttpRequest>,
  'allowBatching' | 'allowMethodOverride' | 'maxBatchSize' | 'responseMeta' | 'onError'
>;

/** Merges the options with the gateway's: `maxInFlight` caps a batch, and the gateway's `onError` is called first. */
export function trpcOptions<Router extends AnyTRPCRouter>(
  options: TrpcOptions<Router> = {},
  { maxInFlight }: Limits,
  reportError: ReportError | undefined,
): TrpcSettings['trpc'] {
  const trpc = options as TrpcOptions<AnyTRPCRouter>;
  return {
    ...trpc,
    ...((reportError ?? trpc.onError) && { onError: reportTo(reportError, trpc.onError) }),
    maxBatchSize: Math.min(trpc.maxBatchSize ?? defaultBatchSize, maxInFlight),
  };
}

/** Calls the gateway's `onError`, then that of `trpc`. Errors that they throw or reject with are ignored. */
function reportTo(
  reportError: ReportError | undefined,
  onError: TrpcOptions<AnyTRPCRouter>['onError'],
): NonNullable<TrpcOptions<AnyTRPCRouter>['onError']> {
  return (reported) => {
    const { ctx, error, input, path, req, type } = reported;
    reportError?.({ error, path, type, input, ctx, request: req });
    (async () => onError?.(reported))().catch(() => {});
  };
}

/** Settings shared by all tRPC requests over HTTP. */
export interface TrpcSettings extends RunSettings {
  readonly config: AnyTRPCRouter['_def']['_config'];
  /** The base path, without a trailing slash. */
  readonly basePath: string;
  readonly trpc: TrpcOptions<AnyTRPCRouter> & { readonly maxBatchSize: number };
  readonly limits: AllLimits;
  readonly watch: CredentialWatch;
  readonly procedures: ReadonlyMap<string, Procedure>;
  readonly errors: TrpcErrors;
}

/** Settings shared by all WebSockets. */
export interface SocketSettings extends TrpcSettings {
  readonly sockets: SocketOptions & SocketLimits;
  readonly rateLimit: Pick<RateLimit<unknown>, 'count'> | undefined;
  readonly failedAttempts: FailedAttempts | undefined;
  readonly allowsOrigin: SocketOrigins;
  readonly clientAddress: ClientAddress;
  /**
   * Whether the credential may come with the connection parameters, since the request that opens the socket has none.
   */
  awaitsParameters(request: HttpRequest): boolean;
  /** Runs the policies on a request or on the credential of a socket. Returns the error that rejects it, if any. */
  admit(context: RequestContext): MaybePromise<TRPCError | undefined>;
  /** The policies of the service, which also see each call. `undefined` without any. */
  readonly policies: PolicySteps<Policy> | undefined;
  /** Reports each call, and each malformed message. */
  readonly recorder: Pick<Recorder, 'call'>;
}

/**
 * Options of tRPC over WebSockets. `keepAlive` and `experimental_encoder` are those of tRPC's own adapter; `maxBatchSize` and `onError` are in `TrpcOptions`.
 */
// Not the adapter's own types (@trpc/server 11.25): they import those of `ws`, which the gateway does not need.
export interface SocketOptions {
  /**
   * Pings a client that has sent nothing for `pingMs` (default 30000), and closes the connection if nothing arrives
   * within `pongWaitMs` (default 5000). Default: off.
   */
  readonly keepAlive?: { enabled: boolean; pingMs?: number; pongWaitMs?: number };
  /** Encodes and decodes messages in another format than JSON. tRPC may change this option in any release. */
  readonly experimental_encoder?: {
    encode(data: unknown): string | Uint8Array<ArrayBuffer>;
    decode(data: string | ArrayBuffer | Uint8Array): unknown;
  };
  /**
   * Maximum size of a message, in bytes. A larger one closes the socket with 1009; if it exceeds 64 KiB, the connection
   * ends without a close frame (1006). Each socket may buffer up to this size of an unfinished message, which no metric
   * shows: 1,000 sockets may buffer 1,000 times as much. Default: 65536, or `maxBodyBytes` if that is less.
   */
  readonly maxMessageBytes?: number;
  /**
   * Maximum number of unsent bytes for a client that does not read; beyond it, its socket is closed (1013).
   * Subscriptions that return async iterables get backpressure long before that. Default: 1048576.
   */
  readonly maxBufferedBytes?: number;
}

/** The limits of each socket, and of those that have not sent their credential yet. */
const socketLimits = {
  /**
   * Bytes that a socket may buffer, received or unsent, before its credential is checked. uWebSockets.js cannot raise
   * the limit of an open socket, so it also stays the largest message of a socket that sends its credential as
   * connection parameters.
   */
  maxUnauthenticatedBytes: defaultMessageBytes,
  maxBufferedBytes: 1_048_576,
  /** Concurrent calls, including subscriptions. */
  maxCallsPerSocket: 1000,
  /** Time that a socket has to send its credential as connection parameters. */
  credentialDeadlineMs: 5000,
  maxUnauthenticatedSockets: 1000,
  /**
   * A tenth, so that one address cannot occupy all. If all clients share one address, about 1,000 sockets per second can
   * still connect: each waits only for a round trip and the look-up of its key.
   */
  maxUnauthenticatedSocketsPerAddress: 100,
};

type SocketLimits = Readonly<typeof socketLimits> & { readonly maxMessageBytes: number };

/** Adds the limits that are not options, and the defaults of the others. */
export const withSocketLimits = (
  options: SocketOptions,
  maxBodyBytes: number,
): SocketSettings['sockets'] => ({
  ...options,
  ...socketLimits,
  maxBufferedBytes: options.maxBufferedBytes ?? socketLimits.maxBufferedBytes,
  maxMessageBytes: options.maxMessageBytes ?? Math.ceil(Math.min(defaultMessageBytes, maxBodyBytes)),
});
