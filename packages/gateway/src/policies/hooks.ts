import type { TRPCError } from '@trpc/server';
import { isThenable, type MaybePromise } from '../http/maybePromise.ts';
import type { HttpRequest } from '../http/request.ts';
import { requireResponse } from '../http/requireResponse.ts';
import type { HttpResponse } from '../http/response.ts';
import { clientError } from '../procedures/clientError.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { RequestTelemetry } from './telemetry.ts';
import { execute, Failure, failureOf, type RawInputs } from '../procedures/execute.ts';
import type { HookedResponse } from './hookedResponse.ts';

/** What `onCall` receives of a call. */
export interface HookedCall<Context> {
  /** The procedure's path in the router, such as `pets.create`. */
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The procedure's metadata. */
  readonly meta: unknown;
  readonly ctx: Context;
  /** Of a call on a WebSocket, the request that opened it. */
  readonly request: HttpRequest;
  /** Reads the input as it was sent, before any validation. */
  readonly getRawInput: () => Promise<unknown>;
}

/** How a call ended. The data of a subscription is what it iterates over. */
export type CallResult =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly error: TRPCError };

/** What `onError` receives of an error, as `onError` of tRPC's adapters does. */
export interface ReportedError<Context> {
  readonly error: TRPCError;
  /** The procedure's path; `undefined` where no procedure was reached. */
  readonly path: string | undefined;
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  /** The input as it was sent, once the call has read it; over REST converted from texts. Validation comes after. */
  readonly input: unknown;
  /** Where it was made. */
  readonly ctx: Context | undefined;
  readonly request: HttpRequest;
}

/**
 * Functions of the service that run at given points of each request, in this order: `onRequest`, the policies, the
 * context, `onCall`, the procedure, security headers and CORS, `onSend`, `onResponse`; `onError` wherever an error
 * occurs. Each is synchronous where it returns no promise.
 */
export interface Hooks<Context> {
  /**
   * Called with each request before its policies, and with one that opens a WebSocket, but not with `OPTIONS`. A response
   * that it returns is the answer; `undefined` lets the request pass. A `TRPCError` that it throws is the answer too, and
   * anything else is 500.
   */
  readonly onRequest?: (request: HttpRequest) => MaybePromise<HttpResponse | undefined | void>;
  /**
   * Called around each call that runs, on every protocol, before its middlewares, within its deadline and its span:
   * `(call, next) => next()`. What it returns is the result of the call, and what it throws is the call's error.
   */
  readonly onCall?: (
    call: HookedCall<Context>,
    next: () => MaybePromise<CallResult>,
  ) => MaybePromise<CallResult>;
  /**
   * Called with each response of REST, tRPC and `routes` before it is written, whose status and headers it may change.
   * It is synchronous. Where it throws, the response is 500 in its place.
   */
  readonly onSend?: (request: HttpRequest, response: HookedResponse) => void;
  /**
   * Called with each error that a client is answered with, of every protocol and of the policies. What it throws is
   * dropped. With it unexpected errors are not written to stderr. `rpc.onError` is that of tRPC's adapters: for requests of
   * tRPC alone, and what it throws is answered.
   */
  readonly onError?: (error: ReportedError<Context>) => unknown;
}

/**
 * Calls `onRequest` first, where there is one. It returns the response of `onRequest`, of `reject` where it throws, or of
 * `next`.
 */
export function afterOnRequest<Scope extends { readonly request: HttpRequest }, ReceivedResponse>(
  onRequest: Hooks<never>['onRequest'],
  reject: (error: TRPCError, scope: Scope) => HttpResponse,
  next: (scope: Scope) => MaybePromise<ReceivedResponse>,
): (scope: Scope) => MaybePromise<ReceivedResponse | HttpResponse> {
  if (onRequest === undefined) return next;
  const rejected = (scope: Scope, cause: unknown) => reject(clientError(failureOf(cause).error), scope);
  const respond = (scope: Scope, response: HttpResponse | undefined | void) => {
    if (response === undefined || response === null) return next(scope);
    try {
      return requireResponse(response, 'onRequest');
    } catch (cause) {
      return rejected(scope, cause);
    }
  };
  return (scope) => {
    if (scope.request.method === 'OPTIONS') return next(scope);
    let response: ReturnType<typeof onRequest>;
    try {
      response = onRequest(scope.request);
    } catch (cause) {
      return rejected(scope, cause);
    }
    if (!isThenable(response)) return respond(scope, response);
    return Promise.resolve(response).then(
      (settled) => respond(scope, settled),
      (cause: unknown) => rejected(scope, cause),
    );
  };
}

/** Runs a call. */
export type RunCall = (
  procedure: Procedure,
  ctx: unknown,
  inputs: RawInputs,
  index: number,
  scope: Parameters<typeof execute>[4] & {
    readonly request: HttpRequest;
    readonly telemetry: RequestTelemetry | undefined;
  },
) => unknown;

/** Runs calls within `onCall`. It never throws, and never rejects. */
export function hookedCalls(onCall: NonNullable<Hooks<never>['onCall']>): RunCall {
  return (procedure, ctx, inputs, index, scope) => {
    const input = new InputOnce(inputs, index);
    const next = () => {
      const outcome = execute(procedure, ctx, input, index, scope);
      return outcome instanceof Promise ? outcome.then(resultOf) : resultOf(outcome);
    };
    const { meta, path, type } = procedure;
    const getRawInput = async () => input.read();
    try {
      const call = { path, type, meta, ctx: ctx as never, request: scope.request, getRawInput };
      const result: unknown = onCall(call, next);
      if (!isThenable(result)) return outcomeOf(result);
      return Promise.resolve(result).then(outcomeOf, (cause: unknown) => failureOf(cause));
    } catch (cause) {
      return failureOf(cause);
    }
  };
}

const resultOf = (outcome: unknown): CallResult =>
  outcome instanceof Failure ? { ok: false, error: outcome.error } : { ok: true, data: outcome };

function outcomeOf(result: unknown): unknown {
  const { ok, data, error } = (result ?? {}) as { ok?: unknown; data?: unknown; error?: unknown };
  if (ok === true) return data;
  if (ok === false) return failureOf(error);
  return failureOf(new Error('onCall did not return a result: return what next() returns.'));
}

/** The input of a call, which is read once: a stream cannot be read again. */
class InputOnce implements RawInputs {
  readonly #inputs: RawInputs;
  readonly #index: number;
  #input: { readonly value: unknown } | { readonly cause: unknown } | undefined = undefined;

  constructor(inputs: RawInputs, index: number) {
    this.#inputs = inputs;
    this.#index = index;
  }

  read(): unknown {
    this.#input ??= this.#read();
    if ('cause' in this.#input) throw this.#input.cause;
    return this.#input.value;
  }

  #read(): { readonly value: unknown } | { readonly cause: unknown } {
    try {
      return { value: this.#inputs.read(this.#index) };
    } catch (cause) {
      return { cause };
    }
  }
}

/** Reports errors to `onError`, whose own failure, at once or later, is dropped. */
export class ErrorReporter {
  readonly #onError: NonNullable<Hooks<never>['onError']>;
  /** The request of each error that was reported. */
  readonly #reported = new WeakMap<TRPCError, HttpRequest>();

  constructor(onError: NonNullable<Hooks<never>['onError']>) {
    this.#onError = onError;
  }

  report(reported: ReportedError<unknown>): void {
    this.#reported.set(reported.error, reported.request);
    try {
      const returned: unknown = this.#onError(reported as ReportedError<never>);
      if (isThenable(returned)) void Promise.allSettled([returned]);
    } catch {
      // The log itself has failed. The request is answered all the same.
    }
  }

  /** Reports an error of a request unless its call has. */
  reportOnce(reported: ReportedError<unknown>): void {
    if (this.#reported.get(reported.error) !== reported.request) this.report(reported);
  }
}
