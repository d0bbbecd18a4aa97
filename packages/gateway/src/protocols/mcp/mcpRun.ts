// Hot path: every request of a tool runs through it.
import { TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { isObject } from '../../http/isObject.ts';
import { mapMaybePromise } from '../../http/maybePromise.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import { isAsyncIterable, OutgoingResponse, type Header } from '../../http/response.ts';
import { ServerSentEvents } from '../../http/serverSentEvents.ts';
import { scopeRejection } from '../../auth/scopes.ts';
import { idempotencyKey } from '../../calls/idempotencyKey.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { originalOf } from '../../procedures/clientError.ts';
import { Failure, failureOf, type RawInputs } from '../../procedures/execute.ts';
import { depthError, isDeeper } from '../../procedures/jsonDepth.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { McpSettings } from '../mcpEndpoint.ts';
import { RequestRun } from '../requestRun.ts';
import { answer, listen, type Catalog } from './answers.ts';
import {
  decodeBody,
  errorCodes,
  MessageError,
  readMessage,
  type Message,
  type MessageId,
} from './message.ts';
import { messageEvent, progressFormat } from './progress.ts';
import { eventStreamType, jsonType, messageError, resultMessage, withId } from './responses.ts';
import { bytesResult, errorResult, isBlobs, outputResult, shownError } from './toolResult.ts';
import type { Tool } from './tools.ts';

interface RunOptions extends McpSettings, Catalog {
  /** Responds with the status of an error. */
  readonly reject: (error: TRPCError, context: RequestContext, id?: MessageId) => OutgoingResponse;
}

/** The interval of pings while a subscription has no event, in milliseconds: below the idle timeouts of proxies. */
const defaultPingMs = 15_000;

/** A message that calls a tool. */
interface ToolCall extends Message {
  readonly tool: Tool;
  readonly args: Record<string, unknown> | undefined;
}

/** Runs one request, from its body to its response. The methods run in their order here. */
export class McpRun extends RequestRun<RunOptions> implements RawInputs {
  /** Set before the context is created. */
  #call!: ToolCall;

  protected receive(): void {
    const { context, settings } = this;
    const { request } = context;
    // A message that calls no tool is no call.
    context.calls = 0;
    const error = typeError(request);
    if (error) return this.finish(settings.reject(error, context));
    const { maxBodyBytes } = settings.limits;
    const bytes = request.bodyNow?.(maxBodyBytes);
    if (bytes) return this.#read(bytes);
    request.body(maxBodyBytes).then(
      (received) => this.#read(received),
      (cause: unknown) => this.finish(settings.reject(receiveError(cause), context)),
    );
  }

  #read(bytes: Uint8Array): void {
    const { context, settings } = this;
    const text = decodeBody(bytes);
    const message =
      text === undefined
        ? new MessageError(errorCodes.parseError, 'The body is not valid UTF-8.')
        : readMessage(context.request, text);
    if (message === undefined) return this.finish(new OutgoingResponse(202));
    if (message instanceof MessageError) return this.finish(messageError(message));
    if (message.method === 'tools/call') return this.#admit(message);
    if (message.isCurrent && message.method === 'subscriptions/listen') {
      const events = listen(message);
      return this.finish(
        events instanceof MessageError
          ? messageError(events)
          : new OutgoingResponse(200, [], events.map(messageEvent).join(''), eventStreamType),
      );
    }
    const result = answer(message, context, settings);
    this.finish(
      result instanceof MessageError
        ? messageError(result)
        : new OutgoingResponse(200, [], resultMessage(result, message.id), jsonType),
    );
  }

  /** Checks the scopes, and lets the policies see the tool if the head of the request did not name it. */
  #admit(message: Message): void {
    const { context, settings } = this;
    const { id, params } = message;
    const { name, arguments: args } = params;
    const tool = typeof name === 'string' ? settings.tools.get(name) : undefined;
    if (tool === undefined || !(args === undefined || isObject(args))) {
      const problem =
        tool === undefined
          ? 'There is no tool of this name; tools/list returns the tools.'
          : 'params.arguments must be an object.';
      return this.finish(messageError(new MessageError(errorCodes.invalidParams, problem, 200, id)));
    }
    const { procedure, target } = tool;
    this.#call = { ...message, tool, args };
    context.calls = 1;
    context.operation = procedure.path;
    const start = (rejection: TRPCError | undefined) => {
      const error = rejection ?? (procedure.scopes && scopeRejection(context, procedure.scopes));
      if (error) return this.finish(settings.reject(error, context, id));
      return this.createContext(procedure.takesKey, undefined);
    };
    if (context.target === target) return start(undefined);
    context.target = target;
    void mapMaybePromise(settings.admitCall(context), start);
  }

  protected readKey(): string | undefined {
    return idempotencyKey(this.context.request, this.#call.tool.procedure.idempotent);
  }

  protected start(ctx: unknown): void {
    const { context, key, settings } = this;
    const { args, tool } = this.#call;
    const { procedure } = tool;
    if (ctx instanceof Failure) return this.settle(0, ctx);
    context.ctx = ctx;
    // A stream outlives its call: its signal must abort when the client closes the response.
    if (procedure.type === 'subscription' || tool.contentType !== undefined) context.follow();
    const start = () => settings.calls.start(procedure, ctx, this, 0, context, this);
    if (key === undefined || !procedure.idempotent) return start();
    // Not the body, since a repeat has another id.
    this.reserve({ procedure, key, head: [args], body: undefined }, start);
  }

  /** Reads the input. The first input parser calls it, after the middlewares before that. */
  read(): unknown {
    const { args, tool } = this.#call;
    const { maxJsonDepth } = this.settings.limits;
    this.context.input = args;
    if (isDeeper(args, maxJsonDepth)) throw depthError(maxJsonDepth);
    return (this.context.input = tool.inputOf(args));
  }

  settle(_index: number, outcome: unknown): void {
    const { isCurrent, tool } = this.#call;
    const { maxResponseBytes: maxBytes } = this.settings.limits;
    this.reservation?.settle(outcome);
    if (outcome instanceof Failure) return this.#fail(outcome.error);
    if (tool.procedure.type === 'subscription') return this.#stream(outcome);
    try {
      if (tool.contentType === undefined && !isBlobs(outcome)) {
        return this.#respond(outputResult(outcome, isCurrent, maxBytes));
      }
    } catch (cause) {
      return this.#fail(cause);
    }
    bytesResult(outcome, { ...tool, isCurrent, maxBytes }).then(
      (result) => this.#respond(result),
      (cause: unknown) => this.#fail(cause),
    );
  }

  /** Responds with the values of a subscription as progress, and with the last one as the result. */
  #stream(output: unknown): void {
    const { context, settings } = this;
    const { id, isCurrent, params, tool } = this.#call;
    const { maxResponseBytes: maxBytes } = settings.limits;
    let iterator: AsyncIterator<unknown>;
    try {
      const events = isObservable(output) ? observableToAsyncIterable(output, context.signal) : output;
      if (!isAsyncIterable(events)) {
        throw new Error('The subscription returned neither an async iterable nor an observable.');
      }
      iterator = events[Symbol.asyncIterator]();
    } catch (cause) {
      return this.#fail(cause);
    }
    const failed = (cause: unknown) => resultMessage(this.#failure(settings.toError(cause)), id);
    const format = progressFormat({
      token: isObject(params['_meta']) ? params['_meta']['progressToken'] : undefined,
      maxBytes,
      parseEvent: tool.parseEvent,
      response: (last) => resultMessage(outputResult(last, isCurrent, maxBytes), id),
      errorResponse: failed,
      revoked: () => failed(new TRPCError({ code: 'UNAUTHORIZED', message: revokedMessage })),
    });
    const { maxDurationMs, pingMs = defaultPingMs } = settings.eventTimes;
    const body = new ServerSentEvents(iterator, format, {
      maxDurationMs,
      pingMs,
      watch: (onRevoked) => settings.watch(context, onRevoked),
      abort: () => context.abort(),
    });
    this.finish(new OutgoingResponse(200, this.#headers(), body, eventStreamType));
  }

  /** Responds with the error of the call. */
  #fail(cause: unknown): void {
    const { context } = this;
    // The error is a consequence of the disconnect, unless the response is stored for a repeat of the request.
    if (context.request.isAborted && this.reservation === undefined) {
      return this.finish(new OutgoingResponse(499));
    }
    this.#respond(this.#failure(failureOf(cause).error));
  }

  /** Reports the error of the call, and returns its result. */
  #failure(error: TRPCError): string {
    const { context, settings } = this;
    const { isCurrent, tool } = this.#call;
    const { errors, path, type } = tool.procedure;
    const { ctx, input, request } = context;
    settings.reportError?.({ error: originalOf(error), path, type, input, ctx, request });
    const shown = shownError(error, errors);
    if (error instanceof LimitError) context.limit = error.limit;
    else if (shown.status >= 500) context.error = originalOf(error);
    try {
      return errorResult(shown, isCurrent, settings.limits.maxResponseBytes);
    } catch (cause) {
      context.error = cause;
      const internal = shownError(new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), undefined);
      return errorResult(internal, isCurrent, Infinity);
    }
  }

  #respond(result: string): void {
    this.finish(new OutgoingResponse(200, this.#headers(), resultMessage(result, this.#call.id), jsonType));
  }

  /** The headers that the procedure has set, without the content type for REST. */
  #headers(): Header[] {
    const { headers } = this.context.response;
    return headers.length === 0 ? headers : headers.filter(([name]) => name !== 'content-type');
  }

  protected override finish(response: OutgoingResponse): void {
    const { body } = response;
    // The stored response to an earlier request has the id of that request.
    if (this.key !== undefined && this.reservation === undefined && typeof body === 'string') {
      response.body = withId(body, this.#call.id);
    }
    super.finish(response);
  }
}

const revokedMessage = 'The credential of this call is no longer valid. Connect again with another.';

/** Returns the error of a request whose body is not JSON, or not readable. */
function typeError(request: HttpRequest): TRPCError | undefined {
  const type = request.header('content-type');
  const encoding = request.header('content-encoding');
  // Fast check for nearly all requests.
  if (type === 'application/json' && encoding === undefined) return undefined;
  const isJson = /^application\/json *(?:;|$)/i.test(type ?? '');
  if (isJson && (encoding ?? 'identity').toLowerCase() === 'identity') return undefined;
  const message = 'The Content-Type must be application/json, without a Content-Encoding.';
  return new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE', message });
}

const receiveError = (cause: unknown): TRPCError =>
  cause instanceof BodyTooLargeError
    ? new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: cause.message })
    : new TRPCError({ code: 'CLIENT_CLOSED_REQUEST', message: 'The client disconnected.', cause });
