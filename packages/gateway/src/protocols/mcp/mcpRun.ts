// Hot path: every request of a tool runs through it.
import { TRPCError } from '@trpc/server';
import { eventStreamHeaders } from '../../http/eventSource.ts';
import { isObject } from '../../http/isObject.ts';
import { mapMaybePromise } from '../../http/maybePromise.ts';
import { hasContentEncoding, type HttpRequest } from '../../http/request.ts';
import { OutgoingResponse, type Header } from '../../http/response.ts';
import { ServerSentEvents } from '../../http/serverSentEvents.ts';
import { revokedError } from '../../auth/credentialWatch.ts';
import { scopeRejection } from '../../auth/scopes.ts';
import type { Target } from '../../calls/policy.ts';
import { receiveError } from '../../calls/receiveError.ts';
import { report } from '../../calls/reportError.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { codeOf } from '../../procedures/clientError.ts';
import { Failure, failureOf, type CallSource } from '../../procedures/execute.ts';
import { jsonError } from '../../procedures/jsonLimits.ts';
import type { ReplayedResponse } from '../../policies/idempotency.ts';
import type { McpSettings } from '../mcpEndpoint.ts';
import { recordError } from '../requestErrors.ts';
import { RequestRun } from '../requestRun.ts';
import { subscriptionIterator } from '../subscriptionIterator.ts';
import { callKey, sortMembers, withoutKey } from './callKey.ts';
import { callProblem, catalogResponse, type Catalog } from './catalog.ts';
import { readMessage, type Message } from './message.ts';
import { progressFormat, stoppedError } from './eventStream.ts';
import { errorCodes, errorResponse, resultMessage, resultResponse } from './responses.ts';
import { errorResult, markReplayed, outputResult, replayedResult, shownError } from './toolResult.ts';
import type { ToolCall } from './tools.ts';

interface RunOptions extends McpSettings, Catalog {
  reject(error: TRPCError, context: RequestContext, id?: Message['id']): OutgoingResponse;
}

/** The interval of pings while a subscription has no event, in milliseconds: below the idle timeouts of proxies. */
const defaultPingMs = 15_000;

/** RFC 9110 §8, and RFC 9111 */
const representationHeader = /^(?:content-.+|cache-control|etag|expires|last-modified|vary)$/;

/** Runs one request, from its body to its response. The methods run in their order here. */
export class McpRun extends RequestRun implements CallSource {
  protected readonly settings: RunOptions;
  readonly context: RequestContext;
  /** Set before the context is created. */
  #call!: ToolCall;

  constructor(settings: RunOptions, context: RequestContext) {
    super();
    this.settings = settings;
    this.context = context;
  }

  get readsIterables(): boolean {
    return this.#call.tool.procedure.type === 'subscription';
  }

  protected receive(): void {
    const { context, settings } = this;
    const { request } = context;
    // A message that calls no tool is no call.
    context.outcome.calls = 0;
    const error = typeError(request);
    if (error) return this.finish(settings.reject(error, context));
    const { maxBodySize } = settings.limits;
    const bytes = request.bodyNow?.(maxBodySize);
    if (bytes) return this.#read(bytes);
    request.body(maxBodySize).then(
      (received) => this.#read(received),
      (cause: unknown) => this.finish(settings.reject(receiveError(cause), context)),
    );
  }

  #read(bytes: Uint8Array): void {
    const { context, settings } = this;
    const message = readMessage(context.request, bytes);
    if (message instanceof OutgoingResponse) {
      return this.#admit(undefined, undefined, () => this.finish(message));
    }
    if (message.method === 'tools/call') return this.#begin(message);
    context.via.declared(message.clientInfo, undefined);
    this.#admit(message, undefined, () =>
      this.#respondWith(message, () => catalogResponse(message, context, settings)),
    );
  }

  /** Responds to a message that runs no call. */
  #respondWith({ id }: Message, respond: () => OutgoingResponse): void {
    let response: OutgoingResponse;
    try {
      response = respond();
    } catch (cause) {
      // `scopes` of a scheme has failed.
      response = this.settings.reject(failureOf(cause).error, this.context, id);
    }
    this.finish(response);
  }

  #begin(message: Message): void {
    const { context, settings } = this;
    const { id, params } = message;
    const { name, arguments: args } = params;
    const tool = typeof name === 'string' ? settings.tools.get(name) : undefined;
    context.via.declared(message.clientInfo, tool?.name);
    context.outcome.calls = 1;
    context.outcome.operation = tool?.procedure.path;
    if (tool === undefined || !(args === undefined || isObject(args))) {
      const problem = () => {
        context.outcome.endedWith(
          typeof name === 'string' && tool === undefined ? 'NOT_FOUND' : 'BAD_REQUEST',
        );
        const text = callProblem(params, context, settings.tools);
        return errorResponse(200, { code: errorCodes.invalidParams, message: text }, id);
      };
      return this.#admit(message, tool?.target, () => this.#respondWith(message, problem));
    }
    const { scopes, idempotencyKey: keyUse } = tool.procedure;
    this.#call = { ...message, tool, args };
    this.#admit(message, tool.target, () => {
      const error = scopes && scopeRejection(context, scopes);
      if (error) this.finish(settings.reject(error, context, id));
      else this.createContext(keyUse !== undefined, undefined);
    });
  }

  /**
   * Runs the policies of the service, which see the tool, also if only the message names it. Nothing that was read is
   * answered before: the error of an unknown tool names others.
   */
  #admit(message: Message | undefined, target: Target | undefined, onAdmitted: () => void): void {
    const { context, settings } = this;
    const head = context.target;
    if (target) context.target = target;
    if (settings.admitMessage === undefined) return onAdmitted();
    void mapMaybePromise(settings.admitMessage(context, head), (rejection) => {
      if (rejection) this.finish(settings.reject(rejection, context, message?.id));
      else onAdmitted();
    });
  }

  protected readKey(): string | undefined {
    const call = this.#call;
    // The procedure does not see the key.
    this.#call = { ...call, args: withoutKey(call.args) };
    return callKey(this.context.request, call, call.tool.procedure.idempotencyKey);
  }

  protected start(ctx: unknown): void {
    const { context, key, settings } = this;
    const { args, tool } = this.#call;
    const { procedure } = tool;
    if (ctx instanceof Failure) return this.settle(0, ctx);
    this.ctx = ctx;
    context.ctx = ctx;
    // A stream outlives its call: its signal must abort when the client closes the response.
    if (procedure.type === 'subscription') context.follow();
    // Before the arguments are compared with those of another request with the same key.
    const error = jsonError(args, settings.limits);
    if (error) return this.settle(0, new Failure(error));
    if (key === undefined || !procedure.isReplayed)
      return settings.calls.start(tool.executed, this, 0, context);
    // Models write a repeat's arguments anew. An error for another order would lead to a new key, and the call would
    // run twice. Id and revision may differ: `replay` writes the repeat's. REST and tRPC compare bytes.
    const call = { procedure, key, head: [sortMembers(args ?? {})], body: undefined };
    this.reserve(call, () => settings.calls.start(tool.executed, this, 0, context));
  }

  /** Reads the input. The first input parser calls it, after the middlewares before that. */
  read(): unknown {
    const { args, tool } = this.#call;
    this.context.input = args;
    return (this.context.input = tool.inputOf(args));
  }

  settle(_index: number, outcome: unknown): void {
    const { tool } = this.#call;
    this.reservation?.settle(outcome);
    if (outcome instanceof Failure) return this.#fail(outcome.error);
    if (tool.procedure.type === 'subscription') return this.#stream(outcome);
    let result: string;
    try {
      result = outputResult(outcome, this.#call, this.context.outcome);
    } catch (cause) {
      return this.#fail(cause);
    }
    this.#respond(result);
  }

  /** Responds with the values of a subscription as progress, and with the last one as the result. */
  #stream(output: unknown): void {
    const { context, settings } = this;
    const call = this.#call;
    let iterator: AsyncIterator<unknown>;
    try {
      iterator = subscriptionIterator(output, context);
    } catch (cause) {
      return this.#fail(cause);
    }
    const format = progressFormat(call, {
      end: (last) => (context.outcome.result = outputResult(last, call, context.outcome)),
      error: (cause) => this.#failure(settings.toError(cause)),
      revoked: () => this.#failure(revokedError()),
      // A client could not repeat a request without a response, and would wait for it.
      expired: () => this.#failure(stoppedError),
    });
    const body = new ServerSentEvents(iterator, format, {
      pingMs: settings.eventTimes.pingMs ?? defaultPingMs,
      // Clients do not continue a call, so it would never have a result.
      maxDurationMs: undefined,
      watch: (onRevoked) => settings.watch(context, onRevoked),
      abort: () => context.abort(),
    });
    this.finish(new OutgoingResponse(200, this.#headers(), body, eventStreamHeaders));
  }

  #fail(cause: unknown): void {
    const { context } = this;
    // The error is a consequence of the disconnect, unless the response is stored for a repeat of the request.
    if (context.request.isAborted && this.reservation === undefined) {
      context.outcome.endedWith('CLIENT_CLOSED_REQUEST');
      return this.finish(new OutgoingResponse(499));
    }
    this.#respond(this.#failure(failureOf(cause).error));
  }

  /** Reports the error of the call, and returns its result. */
  #failure(error: TRPCError): string {
    const { context, settings } = this;
    report(settings.reportError, error, context);
    const { procedure, wrapper } = this.#call.tool;
    const shown = shownError(error, procedure.errors, wrapper);
    // A stop is no error of the service, but the call has failed.
    if (error === stoppedError) context.outcome.endedWith(codeOf(error));
    else recordError(error, shown.status, context);
    return (context.outcome.result = errorResult(shown, this.#call, context.outcome));
  }

  #respond(result: string): void {
    const headers = this.#headers();
    const marked = this.context.response.isReplayed ? markReplayed(result) : result;
    this.context.outcome.result = marked;
    this.finish(resultResponse(marked, this.#call.id, headers));
  }

  /** The headers that the procedure has set, without those that describe its body over REST. */
  #headers(): Header[] {
    const { headers } = this.context.response;
    return headers.length === 0 ? headers : headers.filter(([name]) => !representationHeader.test(name));
  }

  /** The stored message has the id of the earlier request, and the form of its revision. */
  protected override replay(stored: ReplayedResponse): void {
    const { id, isCurrent } = this.#call;
    this.context.outcome.isResultCut = stored.isResultCut === true;
    // Only `#respond` ends a call with a stored response.
    const result = (this.context.outcome.result = replayedResult(stored.body as string, isCurrent));
    stored.body = resultMessage(result, id);
    this.finish(stored);
  }
}

/** Returns the error of a request whose body is not JSON, or not readable. */
function typeError(request: HttpRequest): TRPCError | undefined {
  const isJson = /^application\/json *(?:;|$)/i.test(request.header('content-type') ?? '');
  if (isJson && !hasContentEncoding(request)) return undefined;
  const message = 'The Content-Type must be application/json, without a Content-Encoding.';
  return new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE', message });
}
