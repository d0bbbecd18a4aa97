import type { TRPCError } from '@trpc/server';
import { formatValue } from '../http/formatValue.ts';
import { isThenable, type MaybePromise } from '../http/maybePromise.ts';
import { callback, optional, type OptionRules, requireOptions } from '../checks/optionRules.ts';
import type { PolicyResponse } from '../http/response.ts';
import type { HttpRequest } from '../http/request.ts';
import { clientError, isTrpcError } from '../procedures/clientError.ts';
import { failureOf } from '../procedures/execute.ts';
import type { DescribedProcedure } from '../procedures/meta.ts';
import type { Procedure } from '../procedures/procedure.ts';
import type { Via } from '../procedures/via.ts';
import type { HeaderSource } from './scheme.ts';

/** The properties of a request that its protocol reads for the policies. */
export interface Target {
  /** The called procedures, one per call; `undefined` for an unknown path. */
  readonly procedures: readonly (Procedure | undefined)[];
  /** The number of calls in the request, at least 1. */
  readonly callCount: number;
  /** The cost of the calls for the rate limit. Default: `callCount`. */
  readonly cost?: number;
  /** Whether all its procedures are served without a credential (`protect: false`). */
  readonly isPublic: boolean;
  /** Where credentials are read. Default: the request's headers. */
  readonly credentials?: HeaderSource | undefined;
}

/** The outcome of a call. */
export interface CallOutcome {
  /** `undefined` for an unknown path or tool. */
  readonly procedure: DescribedProcedure | undefined;
  /**
   * `OK`, or the code of the error that the client received, one of tRPC's, such as `NOT_FOUND`. `undefined` if the
   * outcome is not known: in `complete` of a stream, and in `settled` if its client disconnected before its end, or a policy
   * replaced it.
   */
  readonly code: string | undefined;
}

/** A request, or a call on a WebSocket, as policies see it. */
export interface PolicyContext<Identity = unknown, Data extends object = object> {
  /**
   * - `request`: an HTTP request with its calls
   * - `socket`: the HTTP request that opens a WebSocket
   * - `call`: a call on an open WebSocket
   */
  readonly kind: 'call' | 'request' | 'socket';
  /** The HTTP request. For a call on a WebSocket: the request that opened the socket. */
  readonly request: HttpRequest;
  readonly protocol: 'rest' | 'trpc' | 'mcp' | 'other';
  /** The request id, which the response has as `X-Request-Id`. */
  readonly requestId: string;
  /** The identity that the scheme's `verify` returned; `undefined` before authentication, and without a credential. */
  readonly identity: Identity | undefined;
  /** Through what the caller acts. The tool and the `clientInfo` of MCP are known after the message was read. */
  readonly via: Via;
  /** The called procedures, one per call: several in a tRPC batch, none for `routes` and for an unknown path. */
  readonly procedures: readonly DescribedProcedure[];
  /**
   * The outcome of each call, in `complete` and `settled`: also of calls that were rejected, of each call of a batch, and
   * of a tool whose response is a 200. Empty for `routes` and for a request that calls nothing.
   */
  readonly outcomes: readonly CallOutcome[];
  /**
   * Whether the calls end with their response, a stream (JSON lines, events, a download): their outcomes are known in
   * `settled`, and not yet in `complete`.
   */
  readonly isStream: boolean;
  /**
   * Whether the response is that of an earlier request with the same idempotency key: the gateway repeats it, or the
   * procedure has called `response.replayed()`.
   */
  readonly isReplay: boolean;
  /**
   * Data that policies pass to each other and to `createContext`. A call on a WebSocket has its own copy of what the
   * policies set when the socket was opened.
   */
  readonly data: Partial<Data>;
}

/** The members of a policy, for the gateway's own policies and those of a service. */
export interface PolicyFor<Context, Response> {
  /**
   * Runs `admit` before authentication, and also for `routes` and the document. Default: `admit` runs after
   * authentication, `maxInFlight` and the rate limit, for calls only.
   */
  readonly before?: 'authentication';
  /**
   * Admits a request, by returning nothing, or rejects it with a `TRPCError`, which is sent in the format of the protocol.
   * It may throw the error instead; any other error is a 500. It is not called for `OPTIONS`. To send another response,
   * change it in `complete`.
   */
  readonly admit?: (context: Context) => MaybePromise<TRPCError | undefined | void>;
  /**
   * Changes or reports a response, of whatever status, before it is sent; for a stream, before its first byte: those of
   * JSON lines (`httpBatchStreamLink`) and events begin before their calls end. A batch has one response. The response
   * waits for a promise that this returns. If it fails, the client receives a 500 instead.
   */
  readonly complete?: (context: Context, response: Response) => MaybePromise<void>;
  /**
   * Reports the outcomes of a request's calls once: after `complete` of all policies, also if one of them has failed or
   * the client has disconnected, and before the response is sent; for a stream, when it has ended. `settled` of all
   * policies runs at the same time, also if one of them fails. A response that is no stream waits for a promise that this
   * returns, and is a 500 if this fails; after a stream, the failure is the `error` of the request's record.
   */
  readonly settled?: (context: Context) => MaybePromise<void>;
}

/**
 * A rule for requests of every protocol, such as a limit, a header or an audit log: the interface of the gateway's own
 * policies. A function that returns no promise costs no promise.
 *
 * On a WebSocket, `admit` runs for the request that opens the socket and for each call; `complete` and `settled` run for
 * each call, before its result is sent (`settled` of a subscription when it has ended), and for a request that was rejected. A call has no headers, so only the status of its response
 * is of use.
 * @example
 * const maintenance: Policy = {
 *   before: 'authentication',
 *   admit: ({ request }) =>
 *     isInMaintenance && request.path !== '/healthz'
 *       ? new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Back in ten minutes.' })
 *       : undefined,
 * };
 */
export interface Policy<Identity = unknown, Data extends object = object> extends PolicyFor<
  PolicyContext<Identity, Data>,
  PolicyResponse
> {}

/** Policies, split into their steps. */
export interface PolicySteps<Each> {
  /** Policies with `admit`, in the order in which they run: first the policies of `early`. */
  readonly admitting: readonly Each[];
  /** Policies with `admit` that run before authentication. */
  readonly early: readonly Each[];
  /** Policies with `complete`, in the order in which they run. */
  readonly completing: readonly Each[];
  readonly settling: readonly Each[];
}

export function policySteps<Each, Response>(
  policies: readonly PolicyFor<Each, Response>[],
): PolicySteps<PolicyFor<Each, Response>> {
  const admitting = policies.filter((policy) => policy.admit);
  const early = admitting.filter(({ before }) => before);
  return {
    early,
    admitting: [...early, ...admitting.filter(({ before }) => !before)],
    completing: policies.filter((policy) => policy.complete),
    settling: policies.filter((policy) => policy.settled),
  };
}

const policyRules: OptionRules<Policy> = {
  before: optional((value) => value === 'authentication', "'authentication'"),
  admit: callback,
  complete: callback,
  settled: callback,
};

/** Checks the option `policies`. @throws {GatewayError} for the first invalid one, a line per problem */
export function requirePolicies(policies: readonly Policy<never, never>[]): void {
  for (const [index, policy] of policies.entries()) requireOptions(`policies[${index}]`, policy, policyRules);
}

/** Runs `admit` of policies in order until one rejects the request. It never throws and never rejects. */
export function admit<Context>(
  policies: readonly PolicyFor<Context, never>[],
  context: Context,
  from = 0,
): MaybePromise<TRPCError | undefined> {
  try {
    for (let at = from; at < policies.length; at += 1) {
      const result = policies[at]?.admit?.(context) ?? undefined;
      if (result === undefined) continue;
      return isThenable<typeof result>(result)
        ? admitLater(Promise.resolve(result), policies, context, at + 1)
        : rejectionOf(result);
    }
  } catch (cause) {
    return policyError(cause);
  }
  return undefined;
}

/** Runs the remaining policies when a promise settles. Not within the loop, which would create a scope for each policy. */
const admitLater = <Context>(
  pending: Promise<TRPCError | undefined | void>,
  policies: readonly PolicyFor<Context, never>[],
  context: Context,
  from: number,
): Promise<TRPCError | undefined> =>
  pending.then(
    (settled) =>
      settled === undefined || settled === null ? admit(policies, context, from) : rejectionOf(settled),
    policyError,
  );

/** Runs `complete` of policies in order. @throws (or rejects with) the error of a policy */
export function complete<Context, Response>(
  policies: readonly PolicyFor<Context, Response>[],
  context: Context,
  response: Response,
  from = 0,
): MaybePromise<void> {
  for (let at = from; at < policies.length; at += 1) {
    const result: unknown = policies[at]?.complete?.(context, response);
    if (isThenable(result)) {
      return Promise.resolve(result).then(() => complete(policies, context, response, at + 1));
    }
  }
  return undefined;
}

/** Runs all `settled` at once and never throws. If one waits or fails, returns a promise that rejects after all ended. */
export function settle<Context>(
  policies: readonly PolicyFor<Context, never>[],
  context: Context,
): Promise<void> | undefined {
  let pending: Promise<unknown>[] | undefined;
  for (const policy of policies) {
    try {
      const result: unknown = policy.settled?.(context);
      if (isThenable(result)) (pending ??= []).push(Promise.resolve(result));
    } catch (cause) {
      (pending ??= []).push(Promise.reject(cause));
    }
  }
  return pending && whenAllEnded(pending);
}

async function whenAllEnded(pending: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(pending)).find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

const rejectionOf = (result: unknown): TRPCError =>
  isTrpcError(result)
    ? result
    : policyError(
        new TypeError(
          `admit of a policy returned ${formatValue(result)}; it must return a TRPCError or nothing.`,
        ),
      );

/** Returns what a policy has thrown as an error for clients, without the message of an unexpected one. */
export const policyError = (cause: unknown): TRPCError => clientError(failureOf(cause).error);
