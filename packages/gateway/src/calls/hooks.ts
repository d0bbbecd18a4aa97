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

/** A call, as `onCall` receives it. */
export interface HookedCall<Context> {
  /** The procedure's path in the router, such as `pets.create`. */
  readonly path: string;
  /** The type of the procedure. */
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The procedure's metadata, as `.meta()` set it. */
  readonly meta: unknown;
  /** The context that `createContext` returned. */
  readonly ctx: Context;
  /** The HTTP request. For a call on a WebSocket: the request that opened the socket. */
  readonly request: HttpRequest;
  /** Reads the raw input: as the client sent it, before any validation. */
  readonly getRawInput: () => Promise<unknown>;
}

/** The result of a call. The `data` of a subscription is its async iterable. */
export type CallResult =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly error: TRPCError };

/** An error, as `onError` receives it. Its fields are those of `onError` in tRPC's adapters, with `request` for `req`. */
export interface ReportedError<Context> {
  /** The error. `error.cause` is the error that a procedure threw, if it was not a `TRPCError`. */
  readonly error: TRPCError;
  /** The procedure's path; `undefined` if the request matched no procedure. */
  readonly path: string | undefined;
  /** The type of the procedure; `unknown` if the request matched no procedure. */
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  /**
   * The raw input, before validation; `undefined` if the call has not read it. Over REST, path, query and header
   * parameters are already converted from strings.
   */
  readonly input: unknown;
  /** The context; `undefined` if it was not created. */
  readonly ctx: Context | undefined;
  /** The HTTP request. For a call on a WebSocket: the request that opened the socket. */
  readonly request: HttpRequest;
}

/**
 * Hooks into the lifecycle of a request. They run in this order: `onRequest`, the policies, `createContext`, `onCall`,
 * the procedure, security headers and CORS, `onSend`, `onResponse`. `onError` runs whenever an error occurs. A hook
 * that returns no promise runs synchronously.
 */
export interface Hooks<Context> {
  /**
   * Called with each request before any policy, including requests that open a WebSocket, but not with `OPTIONS`.
   * Return a response to end the request with it, or `undefined` to continue. A thrown `TRPCError` becomes the
   * response; any other error becomes a 500.
   * @example
   * onRequest: () => (isInMaintenance ? { status: 503, headers: [['retry-after', '600']] } : undefined)
   */
  readonly onRequest?: (request: HttpRequest) => MaybePromise<HttpResponse | undefined | void>;
  /**
   * Wraps each call, on every protocol. It runs before the procedure's middlewares, and its time counts for the
   * deadline and the span of the call. Return the result of `next()`, or another result. An error that it throws
   * becomes the error of the call.
   * @example
   * onCall: async ({ path }, next) => {
   *   const result = await next();
   *   console.log(path, result.ok ? 'ok' : result.error.code);
   *   return result;
   * }
   */
  readonly onCall?: (
    call: HookedCall<Context>,
    next: () => MaybePromise<CallResult>,
  ) => MaybePromise<CallResult>;
  /**
   * Called with each response of REST, tRPC and `routes` before it is written; it may change the status and the
   * headers. It must be synchronous. If it throws, the client receives a 500 instead.
   * @example
   * onSend: (_request, response) => response.headers.set('x-served-by', 'books-1')
   */
  readonly onSend?: (request: HttpRequest, response: HookedResponse) => void;
  /**
   * Called with each error that a client receives, including 4xx, from any protocol or policy. Errors that it throws
   * are ignored. If it is set, the gateway does not write unexpected errors to stderr.
   *
   * `trpc.onError` is a different hook, that of tRPC's adapters: it receives only errors over tRPC.
   */
  readonly onError?: (error: ReportedError<Context>) => unknown;
}

/**
 * Runs `onRequest`, if it is set, before `next`. The result is the response of `onRequest`, the response of `reject` if
 * `onRequest` throws, or the result of `next`.
 */
export function afterOnRequest<Scope extends { readonly request: HttpRequest }, Result>(
  onRequest: Hooks<never>['onRequest'],
  reject: (error: TRPCError, scope: Scope) => HttpResponse,
  next: (scope: Scope) => MaybePromise<Result>,
): (scope: Scope) => MaybePromise<Result | HttpResponse> {
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

/** Runs a call and returns its output or a `Failure`, or a promise of it. */
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

/** Returns a `RunCall` that wraps each call in `onCall`. It never throws and never rejects. */
export function hookedCalls(onCall: NonNullable<Hooks<never>['onCall']>): RunCall {
  return (procedure, ctx, inputs, index, scope) => {
    const input = new CachedInput(inputs, index);
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
  return failureOf(new Error('onCall did not return a result. Return the value of next().'));
}

/** Reads the input of a call once and remembers it, because a stream cannot be read twice. */
class CachedInput implements RawInputs {
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

/** Reports errors to `onError`. Errors that `onError` throws or rejects with are ignored. */
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
      // The hook itself failed. The client still gets its response.
    }
  }

  /** Reports an error unless it was already reported for this request. */
  reportOnce(reported: ReportedError<unknown>): void {
    if (this.#reported.get(reported.error) !== reported.request) this.report(reported);
  }
}
