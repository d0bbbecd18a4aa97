import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import type { HTTPBaseHandlerOptions } from '@trpc/server/http';
import { tryHook } from '../../http/hooks.ts';
import type { MaybePromise } from '../../http/maybePromise.ts';
import type { HttpRequest } from '../../http/request.ts';
import { defaultMessageBytes } from '../../http/service.ts';
import type { ClientAddress } from '../../calls/clientAddress.ts';
import type { Recorder } from '../../calls/recorder.ts';
import type { FailedAttempts } from '../../auth/failedAttempts.ts';
import type { ReportError } from '../../calls/reportError.ts';
import type { Limits } from '../../calls/limits.ts';
import type { Policy, PolicySteps } from '../../calls/policy.ts';
import type { RateLimit } from '../../policies/rateLimit.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import type { OriginCheck } from '../../auth/origins.ts';
import type { ProtocolSettings } from '../protocolSettings.ts';
import type { ServedConfig } from './routerConfig.ts';
import type { SubscriptionStarts } from './subscriptionStarts.ts';
import type { TrpcErrors } from './trpcErrors.ts';

/**
 * Options of tRPC over HTTP, with the meaning they have in tRPC's own adapters, but `onError` receives the gateway's
 * `HttpRequest` as `req`. WebSockets have no `maxBatchSize`: a client sends all its subscriptions in one message when it
 * reconnects.
 */
export interface TrpcOptions<Router extends AnyTRPCRouter> extends Pick<
  HTTPBaseHandlerOptions<Router, HttpRequest>,
  'allowBatching' | 'allowMethodOverride' | 'responseMeta' | 'onError'
> {
  /**
   * The largest number of calls in a batch, with every version of tRPC; its own adapters have it since 11.15. A larger
   * batch is 400. Default: `maxInFlight`, which is also the most; tRPC has none.
   */
  readonly maxBatchSize?: number;
}

/** Merges the gateway's options, whose `onError` is called first. What `onError` throws or rejects with is ignored. */
export function trpcOptions<Router extends AnyTRPCRouter>(
  options: TrpcOptions<Router> = {},
  reportError: ReportError | undefined,
): TrpcSettings['trpc'] {
  const { onError, ...trpc } = options as TrpcOptions<AnyTRPCRouter>;
  const report: typeof onError = (reported) => {
    const { ctx, error, input, path, req, type } = reported;
    reportError?.({ error, path, type, input, ctx, request: req });
    if (onError) tryHook(onError, reported);
  };
  return {
    ...trpc,
    ...((reportError ?? onError) && { onError: report }),
  };
}

/** Settings shared by all tRPC requests over HTTP. */
export interface TrpcSettings extends ProtocolSettings {
  readonly config: ServedConfig;
  readonly trpc: TrpcOptions<AnyTRPCRouter>;
  /** Returns the input of a form: as over REST, or the form. @throws {TRPCError} `BAD_REQUEST` per field */
  readonly readForm: (path: string, form: FormData) => unknown;
  readonly errors: TrpcErrors;
}

/** `maxPayload` of the package ws, which tRPC's adapter uses. */
const largestMessageBytes = 104_857_600;

/**
 * Returns the largest WebSocket message, in bytes. The calls of one above `maxBodySize` are rejected one by one: if the
 * socket were closed, @trpc/client 11.25 would send it again after each reconnect. Only twice: adapters
 * buffer an unfinished message per socket.
 */
export const maxMessageSizeOf = ({ maxBodySize }: Pick<Limits, 'maxBodySize'>): number =>
  Math.ceil(Math.min(Math.max(2 * maxBodySize, defaultMessageBytes), largestMessageBytes));

/** Settings shared by all WebSockets. */
export interface SocketSettings extends TrpcSettings {
  readonly keepAlive: SocketOptions['keepAlive'];
  readonly rateLimit: Pick<RateLimit<unknown>, 'count'> | undefined;
  readonly failedAttempts: FailedAttempts | undefined;
  readonly allowsOrigin: OriginCheck;
  readonly clientAddress: ClientAddress;
  /** Whether the credential may come with the connection parameters, since the request that opens the socket has none. */
  awaitsParameters(request: HttpRequest): boolean;
  /** Runs the policies on a request or on the credential of a socket. Returns the error that rejects it, if any. */
  admit(context: RequestContext): MaybePromise<TRPCError | undefined>;
  /** The policies of the service, which also see each call. `undefined` without any. */
  readonly policies: PolicySteps<Policy> | undefined;
  readonly starts: SubscriptionStarts;
  /** Reports each call, and each malformed message. */
  readonly recorder: Pick<Recorder, 'call'>;
}

/** Options of tRPC over WebSockets, as in tRPC's own adapter. `onError` is in `TrpcOptions`. */
// Not the adapter's own type (@trpc/server 11.25): it imports those of `ws`, which the gateway does not need.
export interface SocketOptions {
  /**
   * Pings a client that has sent nothing for `pingMs` (default 30000), and closes the connection if nothing arrives
   * within `pongWaitMs` (default 5000). Default: off.
   */
  readonly keepAlive?: { enabled: boolean; pingMs?: number; pongWaitMs?: number };
}
