// Hot path: one object per request, and no closure per call.
import { TRPCError } from '@trpc/server';
import { requireSync } from '../../http/hooks.ts';
import { turn } from '../../http/turn.ts';
import { hasNoBody, type Header, OutgoingResponse } from '../../http/response.ts';
import { clientClosedError } from '../../calls/receiveError.ts';
import { CallContext, type RequestContext } from '../../calls/requestContext.ts';
import type { KeyedCall } from '../../policies/idempotency.ts';
import { idempotencyKey, keyRequired } from '../../calls/idempotencyKey.ts';
import { scopeRejection } from '../../auth/scopes.ts';
import { Failure, failureOf, type CallSource } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedure.ts';
import { codeOf, errorStatusOf, originalOf } from '../../procedures/clientError.ts';
import { RequestRun } from '../requestRun.ts';
import type { TrpcSettings } from './options.ts';
import { jsonType, retryAfterHeader } from './trpcErrors.ts';
import type { TrpcRequest } from './trpcRequest.ts';
import { statusOf } from './routerConfig.ts';

/** The result of one call, as `responseMeta` receives it. */
export type ResultItem = { readonly error: object } | { readonly result: { readonly data: unknown } };

/** The properties of a call that error formatters and `onError` receive. */
interface ReportedCall {
  readonly path: string | undefined;
  readonly input: unknown;
  readonly type: TrpcRequest['type'];
}

export const varyByTrpcAccept: Header = ['vary', 'trpc-accept, accept'];
export const jsonHeaders: readonly Header[] = [jsonType, varyByTrpcAccept];
/** Headers of a response without one of tRPC's formats: an error of the whole request. */
const noFormat: readonly Header[] = [varyByTrpcAccept];
const textType: Header = ['content-type', 'text/plain;charset=UTF-8'];
const emptyList: readonly never[] = [];

/** Number of calls of a batch that start at once. More start in slices, between which other clients are served. */
const callsAtOnce = 100;
/** Number of further calls between two readings of the clock. */
const callsPerReading = 10;

/**
 * Runs the calls of a request and responds. Status and headers come from tRPC's rules (@trpc/server 11.25),
 * `responseMeta` and `ctx.response`. Each response format is a subclass, which receives the outcomes of the calls.
 */
export abstract class RequestCalls extends RequestRun implements CallSource {
  protected readonly settings: TrpcSettings;
  readonly context: RequestContext;
  protected readonly request: TrpcRequest;
  /** The headers of the response's format. */
  protected format = noFormat;
  /** The headers of `ctx.response` when the calls started, for formats that ignore later ones. */
  protected controlHeaders: Header[] | undefined = undefined;
  /** A context per call, if one that misses its deadline must not end the others. Otherwise they share that of the request. */
  protected callContexts: CallContext[] | undefined;
  /** The value of `Allow`, if the method is not supported. */
  #allow: string | undefined = undefined;

  constructor(settings: TrpcSettings, context: RequestContext, request: TrpcRequest) {
    super();
    this.settings = settings;
    this.context = context;
    this.request = request;
    this.callContexts = request.hasOwnDeadlines ? [] : undefined;
  }

  protected receive(): void {
    const { request } = this;
    const { error, info, paths, takesKey } = request;
    if (error) return this.end();
    const receiving = request.http.method === 'GET' ? undefined : request.receive();
    this.context.outcome.operation = paths.length === 1 ? paths[0] : paths.join(',');
    if (receiving) void receiving.then(() => this.createContext(takesKey, info));
    else this.createContext(takesKey, info);
  }

  /** Reads the input of a call. Its first input parser calls it. */
  read(index: number): unknown {
    return this.request.read(index);
  }

  /** Creates the response. An error that it throws is the error of the request. */
  protected abstract write(): OutgoingResponse;

  protected get hasError(): boolean {
    return true;
  }

  /** Releases the body of a response that is not sent: its client disconnected, or `write` failed. */
  protected discard(): void {}

  protected start(ctx: unknown): void {
    const contextError = ctx instanceof Failure ? ctx.error : undefined;
    if (contextError === undefined) this.ctx = ctx;
    this.#startCalls(0, contextError);
  }

  /** Starts the calls from an index on. @param contextError the error of all that are not rejected */
  #startCalls(from: number, contextError: TRPCError | undefined): void {
    const { request, settings } = this;
    const { procedures } = request;
    for (let index = from; index < procedures.length; index += 1) {
      const isSlice = index >= callsAtOnce && index > from && index % callsPerReading === 0;
      if (isSlice && turn.spend()) return this.#startLater(index, contextError);
      const procedure = procedures[index];
      const error = this.#rejection(procedure, index) ?? contextError;
      if (error || !procedure) this.settle(index, new Failure(error as TRPCError));
      else if (this.key !== undefined && procedure.isReplayed) this.#reserve(procedure, this.key);
      else {
        let context: CallContext = this.context;
        if (this.callContexts)
          this.callContexts.push((context = new CallContext(request.http, this.context)));
        settings.calls.start(procedure, this, index, context);
      }
    }
  }

  /** Starts the other calls of a large batch in a later turn. They do not run if the request has ended meanwhile. */
  #startLater(from: number, contextError: TRPCError | undefined): void {
    const { context } = this;
    context.follow();
    turn.later(() => {
      const { aborted, reason } = context.signal;
      const error = reason instanceof TRPCError ? reason : clientClosedError(reason);
      this.#startCalls(from, aborted ? error : contextError);
    });
  }

  /** Ends the request with the response or the error of `write`. */
  protected end(): void {
    const { error, http } = this.request;
    // The response of a call with a key is created even so, since the client may retry.
    if (http.isAborted && (this.reservation === undefined || this.hasError)) {
      // Only the connection has failed.
      this.context.outcome.error = undefined;
      this.context.outcome.failedCalls = undefined;
      this.discard();
      return this.finish(new OutgoingResponse(499, []));
    }
    let response: OutgoingResponse;
    try {
      response = error ? this.#requestError(error) : this.write();
    } catch (cause) {
      this.discard();
      response = this.#requestError(failureOf(cause).error);
    }
    this.finish(response);
  }

  /**
   * Creates the response with a body.
   * @param items the results; `undefined` if they are not known yet
   * @throws the error of `responseMeta`, and, as tRPC's `Response` does, for an invalid status or one without a body
   */
  protected response(
    body: OutgoingResponse['body'],
    tRpcStatus = 200,
    items?: readonly ResultItem[],
    errors: readonly TRPCError[] = emptyList,
  ): OutgoingResponse {
    const { response } = this.context;
    const { responseMeta } = this.settings.trpc;
    const hasSucceeded = items !== undefined && errors.length === 0;
    let status = tRpcStatus;
    // A procedure may set another status, with which the client would not get tRPC's envelope.
    if (hasSucceeded && !this.request.isBatchCall && response.status >= 200 && response.status <= 299) {
      if (!hasNoBody(response.status)) ({ status } = response);
    }
    // Without the content type for REST: the body has tRPC's format.
    let headers = this.controlHeaders ?? response.headers;
    if (headers.length > 0) headers = headers.filter(([name]) => name !== 'content-type');
    if (hasSucceeded && !responseMeta) {
      // No call is running, so no procedure changes it any more.
      response.status = status;
      response.headers = headers;
      response.sharedHeaders = this.format;
      response.body = body;
      return response;
    }
    headers = this.#allow === undefined ? [...headers] : [...headers, ['allow', this.#allow]];
    let shared = this.format;
    if (responseMeta) {
      const all = new Headers([...shared, ...headers] as [string, string][]);
      status = this.#addMeta(all, items, errors) || status;
      headers = [...all];
      shared = emptyList;
    }
    if (!(status >= 200 && status <= 599) || hasNoBody(status)) void new Response('', { status });
    if (this.format === noFormat && !headers.some(([name]) => name === 'content-type'))
      headers.push(textType);
    if (errors.length > 0) headers.push(...retryAfterHeader(errors));
    return new OutgoingResponse(status, headers, body, shared);
  }

  /** Reports an error to the request record and to `onError`; by default, of the request as a whole. */
  protected report(cause: TRPCError, call = this.#wholeRequest): void {
    const { request, settings } = this;
    const { outcome } = this.context;
    const error = originalOf(cause);
    // The record of a late call is that of its deadline.
    if (!outcome.isLate) {
      if (cause instanceof LimitError) outcome.limit = cause.limit;
      else if (errorStatusOf(cause) >= 500) outcome.failedUnexpectedly(error, call.path);
    }
    const ctx = this.ctx as never;
    settings.trpc.onError?.({ error, ctx, req: request.http, ...call });
  }

  /** Formats an error for clients with the router's `errorFormatter`. */
  protected shapeOf(error: TRPCError, call = this.#wholeRequest): object {
    return this.settings.errors.shapeOf({ error, ctx: this.ctx as never, ...call });
  }

  /** Returns the properties of a call for `onError` and error formatters. */
  protected callOf(index: number): ReportedCall {
    const { inputs, paths, procedures } = this.request;
    return { path: paths[index], input: inputs[index], type: procedures[index]?.type ?? 'unknown' };
  }

  get #wholeRequest(): ReportedCall {
    return { path: undefined, input: undefined, type: this.request.type };
  }

  /** Reads the `Idempotency-Key`. @throws {TRPCError} `BAD_REQUEST` for a batch: its calls would share it */
  protected readKey(): string | undefined {
    const { http, isBatchCall } = this.request;
    const key = idempotencyKey(http);
    if (key === undefined || !isBatchCall) return key;
    throw keyInBatch();
  }

  #reserve(procedure: Procedure, key: string): void {
    const { request, context, settings } = this;
    let body: KeyedCall['body'];
    try {
      body = request.content();
    } catch (cause) {
      return this.settle(0, failureOf(cause));
    }
    this.reserve({ procedure, key, head: [], body }, () => settings.calls.start(procedure, this, 0, context));
  }

  /** Returns the error of a call that is rejected before it starts. */
  #rejection(procedure: Procedure | undefined, index: number): TRPCError | undefined {
    const { http, isBatchCall, paths } = this.request;
    const rejected = this.context.rejectedCalls?.get(index);
    if (rejected) return rejected;
    if (procedure === undefined) {
      return clientErrorWithoutStack('NOT_FOUND', `No procedure found on path "${paths[index]}"`);
    }
    const { type } = procedure;
    const { allowMethodOverride } = this.settings.trpc;
    const allow = type === 'mutation' ? 'POST' : allowMethodOverride ? 'GET, POST' : 'GET';
    if (!allow.includes(http.method)) {
      this.#allow = allow;
      const message = `Unsupported ${http.method}-request to ${type} procedure at path "${paths[index]}"`;
      return clientErrorWithoutStack('METHOD_NOT_SUPPORTED', message);
    }
    if (type === 'subscription' && isBatchCall) {
      return clientErrorWithoutStack('BAD_REQUEST', 'Cannot batch subscription calls');
    }
    const rejection = procedure.scopes && scopeRejection(this.context, procedure.scopes);
    if (rejection) return rejection;
    if (procedure.idempotencyKey !== 'required' || this.key !== undefined) return undefined;
    return isBatchCall ? keyInBatch() : keyRequired();
  }

  #requestError(error: TRPCError): OutgoingResponse {
    this.report(error);
    this.context.outcome.endedWith(codeOf(error));
    try {
      const { replacement, shape, text } = this.settings.errors.encode(this.shapeOf(error), this.context);
      const item = { error: shape };
      const errors = [replacement ?? error];
      return this.response(text, statusOf(item as never, errors), [item], errors);
    } catch (cause) {
      // As in tRPC, a broken `responseMeta` or `errorFormatter` is left to the adapter, which sets no content type.
      const broken = failureOf(cause).error;
      this.report(broken);
      return this.settings.errors.response(broken, this.context, emptyList, true);
    }
  }

  /** Calls `responseMeta`, adds its headers and returns its status. */
  #addMeta(
    headers: Headers,
    items: readonly ResultItem[] | undefined,
    errors: readonly TRPCError[],
  ): number | undefined {
    const { info, paths, procedures } = this.request;
    const returned = this.settings.trpc.responseMeta?.({
      ctx: this.ctx as never,
      info,
      paths: info && paths,
      type: (info && procedures.find((procedure) => procedure)?.type) ?? 'unknown',
      data: (items ?? []) as never,
      errors: errors as TRPCError[],
      eagerGeneration: items === undefined,
    });
    const meta = requireSync(returned, 'trpc.responseMeta');
    // As in tRPC, only a single string replaces earlier values; those of a list and of `Headers` are appended.
    const added = meta?.headers ?? {};
    if (added instanceof Headers) for (const [name, value] of added) headers.append(name, value);
    else {
      for (const [name, value] of Object.entries(added)) {
        if (Array.isArray(value)) for (const each of value) headers.append(name, each);
        else if (typeof value === 'string') headers.set(name, value);
      }
    }
    return meta?.status;
  }
}

/** Creates an error without a stack trace, which takes 6 of the 13 µs of an unknown call and has only frames of the gateway. */
function clientErrorWithoutStack(code: TRPCError['code'], message: string): TRPCError {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return new TRPCError({ code, message });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const keyInBatch = () =>
  new TRPCError({
    code: 'BAD_REQUEST',
    message:
      'Idempotency-Key: is not supported for batches. Send the call on its own, with httpLink instead of httpBatchLink.',
  });
