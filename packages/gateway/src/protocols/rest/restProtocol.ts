// Hot path: every REST request runs through it.
import { TRPCError } from '@trpc/server';
import Negotiator from 'negotiator';
import { discardOutput } from '../../http/asyncValues.ts';
import { eventStreamHeaders } from '../../http/eventSource.ts';
import type { MaybePromise } from '../../http/maybePromise.ts';
import { isBodyStream, reportedStream, type Header, OutgoingResponse } from '../../http/response.ts';
import type { Spool } from '../../http/upload.ts';
import type { Operation } from '../../operations/operation.ts';
import { idempotencyKey } from '../../calls/idempotencyKey.ts';
import type { Target } from '../../calls/policy.ts';
import { clientClosedError } from '../../calls/receiveError.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { scopeRejection } from '../../auth/scopes.ts';
import { Failure, failureOf, type CallSource } from '../../procedures/execute.ts';
import type { Protocol } from '../protocol.ts';
import { forEventSource } from '../requestErrors.ts';
import type { ProtocolSettings } from '../protocolSettings.ts';
import { RequestRun } from '../requestRun.ts';
import { allowOf, methodNotAllowed, RestStatusError, type ErrorResponse } from './errorResponse.ts';
import { createPathMatcher } from './pathMatcher.ts';
import { readInput } from './readInput.ts';
import { receiveBody, toFormData, type RawBody } from './receiveBody.ts';
import { errorEvent, eventBody } from './restEvents.ts';
import { writeSuccess } from './successResponse.ts';
import { headerTexts, queryPairs } from './textParameters.ts';

export interface RestSettings extends ProtocolSettings {
  readonly spool: Spool | undefined;
  readonly errorResponse: ErrorResponse;
}

/** The resource and operation that a request addresses. Created at start, so that a request only looks it up. */
export interface RestTarget extends Target {
  /** The operations of the path, by method; `undefined` for an unknown path. */
  readonly resource: Resource | undefined;
  readonly operation: Operation | undefined;
}

/** The operations of one path, by method; `HEAD` is that of `GET`. */
type Resource = Map<string, RestTarget>;

/** Headers of the response to `OPTIONS`: the path's methods, and the media types of a merge patch. */
const optionsHeaders = (resource: Resource): Header[] => [
  ['allow', allowOf(resource)],
  ...[...resource.values()].flatMap(({ operation }) => operation?.input.body?.accepts ?? []),
];

/** Creates the REST protocol. Checks in order: path 404, method 405, media type 415, size 413, input 400. */
export function createRestProtocol(
  settings: RestSettings,
): Protocol<RestTarget> & { readonly routeOf: (path: string) => string | undefined } {
  const { errorResponse, operations, paths } = settings;
  const basePathLength = paths.restBasePath.length;
  const matcher = createPathMatcher<Resource>(paths.areLenient);
  for (const operation of operations) {
    const { procedure, rest, template } = operation;
    const resource = matcher.at(template, () => new Map<string, RestTarget>());
    const { isPublic, rateLimitCost: cost } = procedure;
    const target = { procedures: [procedure], callCount: 1, cost, isPublic, resource, operation };
    resource.set(rest.method, target);
    if (rest.method === 'GET') resource.set('HEAD', target);
  }
  const noOperation = { procedures: [], callCount: 1, isPublic: false, operation: undefined } as const;
  const unknownPath: RestTarget = { ...noOperation, resource: undefined };
  // Created once, since its stack trace costs more than a GET.
  const notFound = new TRPCError({ code: 'NOT_FOUND', message: 'There is no operation at this path.' });

  return {
    target(context) {
      const { method, path } = context.request;
      const match = matcher.match(path, basePathLength);
      if (match === undefined) return unknownPath;
      context.parameters = match.parameters;
      const resource = match.value;
      return resource.get(method) ?? { ...noOperation, resource };
    },
    /** Returns the path pattern of a path, such as `/pets/{petId}`, without the base path. */
    routeOf(path) {
      const [target] = matcher.match(path, basePathLength)?.value.values() ?? [];
      return target?.operation?.rest.path;
    },
    options: (context, { resource }) =>
      resource ? new OutgoingResponse(204, optionsHeaders(resource)) : errorResponse(notFound, context),
    respond(context, { operation, resource }) {
      if (resource === undefined) return errorResponse(notFound, context);
      if (operation === undefined) return methodNotAllowed(resource, errorResponse, context);
      const { scopes } = operation.procedure;
      const rejection = scopes && scopeRejection(context, scopes);
      if (rejection === undefined) return new RestRun(settings, operation, context).respond();
      context.outcome.operation = operation.procedure.path;
      return errorResponse(rejection, context);
    },
    reject: (error, context) => toEventSource(errorResponse(error, context), context),
  };
}

const toEventSource = (response: OutgoingResponse, context: RequestContext) =>
  forEventSource(response, context, eventStreamHeaders, errorEvent);

/** Runs the call of one request, from its body to its response. The methods run in their order here. */
class RestRun extends RequestRun implements CallSource {
  protected readonly settings: RestSettings;
  readonly context: RequestContext;
  readonly #operation: Operation;
  #body: RawBody | undefined = undefined;
  /** The negotiated media type, if the operation has several. */
  #mediaType: string | undefined = undefined;

  constructor(settings: RestSettings, operation: Operation, context: RequestContext) {
    super();
    this.settings = settings;
    this.context = context;
    this.#operation = operation;
  }

  /** Whether the body of the response may read the output. */
  get readsIterables(): boolean {
    return this.#operation.output.kind !== 'json';
  }

  protected receive(): void {
    const { input, output, procedure } = this.#operation;
    const { request } = this.context;
    let body: MaybePromise<RawBody | undefined>;
    try {
      if (output.kind === 'media') {
        this.#mediaType = negotiate(request.header('accept'), output.types);
      }
      body = input.body && receiveBody(request, input.body, this.settings);
    } catch (cause) {
      return this.#respondWithoutCall(cause);
    }
    if (body instanceof Promise) return this.#receiveLater(body);
    this.#body = body;
    this.createContext(procedure.idempotencyKey !== undefined, undefined);
  }

  #receiveLater(pending: Promise<RawBody | undefined>): void {
    pending.then(
      (body) => {
        this.#body = body;
        this.createContext(this.#operation.procedure.idempotencyKey !== undefined, undefined);
      },
      (cause: unknown) => this.#respondWithoutCall(cause),
    );
  }

  protected readKey(): string | undefined {
    return idempotencyKey(this.context.request, this.#operation.procedure.idempotencyKey);
  }

  protected start(ctx: unknown): void {
    const { context } = this;
    const { procedure } = this.#operation;
    context.outcome.operation = procedure.path;
    if (ctx instanceof Failure) return this.#respondWithError(ctx.error);
    this.ctx = ctx;
    context.ctx = ctx;
    if (this.key !== undefined && procedure.isReplayed) this.#reserveKey(this.key);
    else this.settings.calls.start(procedure, this, 0, context);
  }

  /** Reserves the key for the input, then starts the call. */
  #reserveKey(key: string): void {
    const { input, procedure } = this.#operation;
    const { context, settings } = this;
    const { parameters, request } = context;
    const { fields, text } = this.#body ?? {};
    const query = queryPairs(request.query, (name) => input.query.get(name) !== undefined);
    const head = [parameters, query, headerTexts(input.headers, request), text];
    const body = fields && toFormData(fields);
    this.reserve({ procedure, key, head, body }, () => settings.calls.start(procedure, this, 0, context));
  }

  /** Reads the input. The first input parser calls it, after the middlewares before that. */
  read(): unknown {
    const { context } = this;
    const { limits } = this.settings;
    return (context.input = readInput(this.#operation, context, this.#body, limits));
  }

  settle(_index: number, outcome: unknown): void {
    const { output } = this.#operation;
    this.reservation?.settle(outcome);
    if (outcome instanceof Failure) this.#respondWithError(outcome.error);
    else if (output.kind === 'events') void this.#streamEvents(outcome, output.parse);
    else this.#respondWithOutput(outcome);
  }

  /** Starts the stream of a subscription. An error before the first event can still become an error response. */
  async #streamEvents(output: unknown, parse: (event: unknown) => unknown): Promise<void> {
    const { errorResponse, eventTimes, limits, toError, watch } = this.settings;
    this.context.follow();
    try {
      this.context.response.body = await eventBody(output, {
        parse,
        context: this.context,
        maxEventBytes: limits.maxResponseSize,
        ...eventTimes,
        watch: (onRevoked) => watch(this.context, onRevoked),
        toError,
        // The body of an error response is always a string of JSON.
        reportError: (cause) =>
          errorResponse(cause, this.context, { declared: this.#operation.procedure.errors }).body as string,
      });
    } catch (cause) {
      return this.#respondWithError(cause);
    }
    this.#respondWithOutput(undefined);
  }

  /** Responds with the output of the call; for events, with the stream that the response has as its body. */
  #respondWithOutput(value: unknown): void {
    const { response } = this.context;
    try {
      writeSuccess(this.#operation, this.context, value, this.#mediaType, this.settings);
    } catch (cause) {
      this.#discardUnread(value);
      response.removeBody();
      return this.#respondWithError(cause);
    }
    // Headers that the producer of a stream sets later are ignored: whether they arrive before the head depends on timing.
    const isStream = typeof response.body === 'object' && isBodyStream(response.body);
    // A stream outlives its call: its signal must abort when the client disconnects.
    if (isStream) this.context.follow();
    else if (this.#operation.procedure.mayReturnAsync) this.#discardUnread(value);
    this.#respond(isStream ? OutgoingResponse.of(response) : response);
  }

  /** Ends the async iterables in an output that the body of the response does not read. */
  #discardUnread(value: unknown): void {
    const { output } = this.#operation;
    if (output.kind === 'json' || isBodyStream(this.context.response.body)) return;
    // A stream of bytes is the body itself, which is cancelled when it is removed.
    if (output.kind === 'media' || !isBodyStream(value)) discardOutput(value);
  }

  #respondWithError(cause: unknown): void {
    const { deprecation, input, procedure } = this.#operation;
    // If the client disconnected, the call's error is a consequence of that, not an error of the service.
    const error = this.context.request.isAborted ? clientClosedError(cause) : failureOf(cause).error;
    const headers = error.code === 'NOT_FOUND' ? deprecation : [];
    const details = { headers, declared: procedure.errors, places: input.places };
    this.#respond(toEventSource(this.settings.errorResponse(error, this.context, details), this.context));
  }

  /** Responds with the error of a request that did not become a call. */
  #respondWithoutCall(cause: unknown): void {
    const { error } = failureOf(cause);
    const isType = error.code === 'UNSUPPORTED_MEDIA_TYPE';
    const headers = isType ? this.#operation.input.body?.accepts : undefined;
    this.#respond(this.settings.errorResponse(error, this.context, { headers }));
  }

  #respond(response: OutgoingResponse): void {
    if (this.#operation.output.kind === 'media') response.headers.push(['vary', 'Accept']);
    const close = this.#body?.close;
    if (close) closeAfter(response, close);
    this.finish(response);
  }
}

/** Closes the body of a request with its response, whose body may still read from an upload. */
function closeAfter(response: OutgoingResponse, close: NonNullable<RawBody['close']>): void {
  if (isBodyStream(response.body)) response.body = reportedStream(response.body, () => void close());
  else void close();
}

/** Longest `Accept` read. Negotiator 1.1 takes 17 ms for an open quote and 15,000 commas, 0.1 for 1,000. */
const maxAcceptLength = 1024;

/**
 * Selects the preferred media type (RFC 9110 §12.5.1); the first of equals, and without `Accept`.
 * @throws {RestStatusError} 406 if the request accepts none
 */
function negotiate(accept: string | undefined, media: ReadonlyMap<string, unknown>): string {
  const types = [...media.keys()];
  // Nearly all requests, for which Negotiator would copy and sort the list.
  if (types[0] !== undefined && (accept === undefined || accept === '*/*')) return types[0];
  const isRead = accept !== undefined && accept.length <= maxAcceptLength;
  const headers = isRead ? { accept } : {};
  const [type] = new Negotiator({ headers }).mediaTypes(types);
  if (type !== undefined) return type;
  throw new RestStatusError('NOT_ACCEPTABLE', 406, `Accept must allow one of ${types.join(', ')}.`);
}
