// Hot path: every REST request runs through it.
import { TRPCError } from '@trpc/server';
import { isThenable, type MaybePromise } from '../../http/maybePromise.ts';
import { ResponseDraft } from '../../http/responseDraft.ts';
import type { HttpRequest } from '../../http/request.ts';
import { discardStream, isBodyStream, type Header } from '../../http/response.ts';
import { reportedStream } from '../../http/reportedStream.ts';
import type { EventStreamTimes } from '../../http/serverSentEvents.ts';
import type { Spool } from '../../http/upload.ts';
import type { LinkBase } from '../../openapi/deprecation.ts';
import type { Operation } from '../../openapi/operation.ts';
import type { MediaTypes, StatusResponses } from '../../openapi/operationOutput.ts';
import type { Calls, OutcomeReceiver } from '../../policies/calls.ts';
import type { CredentialWatch } from '../../policies/credentialWatch.ts';
import type { Idempotency, IdempotencyReservation } from '../../policies/idempotency.ts';
import { idempotencyKey } from '../../policies/idempotencyKey.ts';
import type { Limits } from '../../policies/limits.ts';
import type { Target } from '../../policies/policy.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { scopeRejection } from '../../policies/scopes.ts';
import type { ContextOptions } from '../../procedures/contextOptions.ts';
import { invalidOutput } from '../../procedures/compile.ts';
import { Failure, failureOf, type RawInputs } from '../../procedures/execute.ts';
import type { Protocol } from '../protocol.ts';
import { byteContent } from './byteContent.ts';
import type { ErrorResponse } from './errorResponse.ts';
import { mediaContent } from './mediaContent.ts';
import { allowOf, methodNotAllowed } from './methodNotAllowed.ts';
import { negotiate } from './negotiate.ts';
import { formFields, type FormFields } from './formFields.ts';
import { headerTexts } from './headerFields.ts';
import { createPathMatcher, type PathMatch } from './matchPath.ts';
import { receiveBody, type RawBody } from './readBody.ts';
import { clientClosed } from './receiveError.ts';
import { receiveUpload } from './receiveUpload.ts';
import { readInput, type RawInput } from './readInput.ts';
import type { RestResponseMeta } from './responseMeta.ts';
import { eventContent } from './restEvents.ts';
import { statusHasBody, successStatusOf, successResponse, type ResponseContent } from './successResponse.ts';
import { Upload } from './upload.ts';

export interface RestProtocolOptions<Identity> extends EventStreamTimes {
  readonly operations: readonly Operation[];
  readonly links: LinkBase;
  /** The length of the base path, which `request.path` starts with. */
  readonly basePathLength: number;
  readonly limits: Limits;
  /** Keeps files outside of memory. */
  readonly spool: Spool | undefined;
  readonly calls: Calls;
  readonly watch: CredentialWatch;
  /** `undefined` where no procedure needs it. */
  readonly idempotency: Idempotency<Identity> | undefined;
  readonly createContext: (options: ContextOptions<Identity>) => unknown;
  readonly errorResponse: ErrorResponse;
  readonly responseMeta: RestResponseMeta | undefined;
}

const varyByAccept: Header = ['vary', 'Accept'];

/** The operations of one path, by method. */
type Resource = Map<string, Operation>;

/** What OPTIONS says of a path: its methods, and the media types that QUERY and PATCH take. */
const optionsHeaders = (resource: Resource): Header[] => [
  ['allow', allowOf(resource)],
  ...[...resource.values()].flatMap(({ input }) => input.body?.accepts ?? []),
];

/** The resource and the operation that a request names. */
export interface RestTarget extends Target {
  readonly match: PathMatch<Resource> | undefined;
  readonly operation: Operation | undefined;
}

/**
 * The REST protocol of a router. A request is checked in this order, and the first problem is the response: path (404),
 * method (405), media type (415), size (413), input (400).
 */
export function createRestProtocol<Identity>(
  options: RestProtocolOptions<Identity>,
): Protocol<Identity, RestTarget> & { readonly routeOf: (path: string) => string | undefined } {
  const { basePathLength, errorResponse, operations } = options;
  const matcher = createPathMatcher<Resource>();
  for (const operation of operations) {
    const resource = matcher.at(operation.template, () => new Map<string, Operation>());
    resource.set(operation.rest.method, operation);
  }
  // Created once: its stack costs more than a GET.
  const notFound = new TRPCError({ code: 'NOT_FOUND', message: 'There is no operation at this path.' });

  return {
    target({ method, path }) {
      const match = matcher.match(path.slice(basePathLength));
      const operation = match?.value.get(method === 'HEAD' ? 'GET' : method);
      const cost = operation?.procedure.rateLimitCost ?? 1;
      return { callCount: 1, cost, isPublic: operation?.isPublic === true, match, operation };
    },
    /** What a path matches, such as `/pets/{petId}`, without the base path. */
    routeOf(path) {
      const [operation] = matcher.match(path.slice(basePathLength))?.value.values() ?? [];
      return operation?.rest.path;
    },
    options: (scope, { match }) =>
      match ? new ResponseDraft(204, optionsHeaders(match.value)) : errorResponse(notFound, scope),
    respond(scope, { match, operation }) {
      if (match === undefined) return errorResponse(notFound, scope);
      const rejection = operation && scopeRejection(scope, operation.procedure);
      if (rejection) {
        scope.operation = operation.procedure.path;
        return errorResponse(rejection, scope);
      }
      if (operation) return new RestCall(options, operation, match.parameters, scope).respond();
      return methodNotAllowed(match.value, errorResponse, scope);
    },
    reject: errorResponse,
  };
}

/**
 * One request, from its body to its response: its methods run from top to bottom. There is no promise where nothing
 * waits, and no closure.
 */
class RestCall<Identity> implements OutcomeReceiver, RawInputs, RawInput {
  readonly #options: RestProtocolOptions<Identity>;
  readonly #operation: Operation;
  readonly #scope: RequestScope<Identity>;
  readonly parameters: RawInput['parameters'];
  body: RawBody | undefined = undefined;
  #queryFields: FormFields | undefined = undefined;
  /** The one that the request accepts, of several. */
  #mediaType: string | undefined = undefined;
  /** Its `Idempotency-Key`, where the procedure takes one. */
  #key: string | undefined = undefined;
  #reservation: IdempotencyReservation | undefined = undefined;
  /** Whether the call has ended after its deadline: 504 was the response. */
  #isLate = false;
  #response: ResponseDraft | undefined = undefined;
  /** Resolves the promise of the response, where the caller waits for it. */
  #resolve: ((response: ResponseDraft) => void) | undefined = undefined;

  constructor(
    options: RestProtocolOptions<Identity>,
    operation: Operation,
    parameters: RawInput['parameters'],
    scope: RequestScope<Identity>,
  ) {
    this.#options = options;
    this.#operation = operation;
    this.#scope = scope;
    this.parameters = parameters;
  }

  get request(): HttpRequest {
    return this.#scope.request;
  }

  get queryFields(): FormFields {
    return (this.#queryFields ??= formFields(this.request.query, this.#operation.input.query));
  }

  respond(): MaybePromise<ResponseDraft> {
    const { output } = this.#operation;
    if (output.kind === 'media') this.#negotiate(output.types);
    else this.#receiveBody();
    return (
      this.#response ??
      new Promise((resolve) => {
        this.#resolve = resolve;
      })
    );
  }

  #negotiate(types: ReadonlyMap<string, unknown>): void {
    try {
      this.#mediaType = negotiate(this.request.header('accept'), [...types.keys()]);
    } catch (cause) {
      return this.#reject(cause);
    }
    this.#receiveBody();
  }

  #receiveBody(): void {
    const { body } = this.#operation.input;
    if (body === undefined) return this.#createContext();
    let raw: MaybePromise<RawBody | undefined>;
    try {
      raw = body.upload
        ? receiveUpload(this.request, body, body.upload, this.#options)
        : receiveBody(this.request, body, this.#options.limits.maxBodyBytes);
    } catch (cause) {
      return this.#reject(cause);
    }
    if (!(raw instanceof Promise)) return this.#takeBody(raw);
    raw.then(
      (received) => this.#takeBody(received),
      (cause: unknown) => this.#reject(cause),
    );
  }

  #takeBody(body: RawBody | undefined): void {
    this.body = body;
    this.#createContext();
  }

  #createContext(): void {
    const { calls, createContext } = this.#options;
    const { identity, responseControls, request, requestId } = this.#scope;
    const { output, procedure, rest } = this.#operation;
    this.#scope.operation = procedure.path;
    const rejection = calls.rejection(1);
    if (rejection) return this.#fail(rejection);
    // A stream goes on after its call: its signal must abort when the client disconnects.
    if (output.kind !== 'json') this.#scope.follow();
    let context: unknown;
    try {
      if (rest.idempotencyKey || procedure.idempotencyKey) {
        this.#key = idempotencyKey(request, procedure.idempotencyKey);
      }
      context = createContext({
        request,
        identity,
        response: responseControls,
        requestId,
        idempotencyKey: this.#key,
        info: undefined,
      });
    } catch (cause) {
      return this.#fail(cause);
    }
    if (!isThenable(context)) return this.#call(context);
    calls.wait(context, this.#scope, (outcome) => {
      if (outcome instanceof Failure) this.#fail(outcome.error);
      else this.#call(outcome);
    });
  }

  #call(ctx: unknown): void {
    this.#scope.context = ctx;
    const { idempotency } = this.#options;
    if (idempotency && this.#key !== undefined && this.#operation.procedure.idempotencyKey) {
      this.#reserve(idempotency, this.#key);
    } else this.#start();
  }

  #start(): void {
    const { context } = this.#scope;
    this.#options.calls.start(this.#operation.procedure, context, this, 0, this.#scope, this);
  }

  /** Starts the call, unless it is a repeat. */
  #reserve(idempotency: Idempotency<Identity>, key: string): void {
    const { input, procedure } = this.#operation;
    const { body, parameters, queryFields, request } = this;
    const head = [parameters, [...queryFields], headerTexts(input.headers, request)];
    // An upload has no idempotencyKey.
    const content = body instanceof FormData ? body : body && 'bytes' in body ? body.bytes : undefined;
    const call = { procedure, key, head, body: content };
    idempotency.begin(this.#scope, call, this.#options.calls, (begun) => {
      if (begun instanceof Failure) this.#fail(begun.error);
      else if (begun instanceof ResponseDraft) this.#end(begun);
      else {
        this.#reservation = begun;
        this.#start();
      }
    });
  }

  /** Reads the input, once the procedure asks for it: middlewares run before. */
  read(): unknown {
    return (this.#scope.input = readInput(this.#operation, this, this.#options.limits));
  }

  settle(_index: number, outcome: unknown): void {
    const { output } = this.#operation;
    this.#reservation?.settle(outcome);
    if (outcome instanceof Failure) this.#fail(outcome.error);
    else if (output.kind === 'events') void this.#streamEvents(outcome, output.parse);
    else if (output.kind !== 'bytes' && output.responses) void this.#parse(outcome, output.responses);
    else this.#succeed(outcome);
  }

  /** Stores the response of a call that was answered 504, for its repeats. */
  settleLate(index: number, outcome: unknown): void {
    if (this.#reservation === undefined) return;
    this.#isLate = true;
    this.#reservation.settle(outcome);
    if (outcome instanceof Failure) void this.#reservation.completeLate(undefined, this.#scope);
    else this.settle(index, outcome);
  }

  /** Parses an output by the schema of its status. */
  async #parse(output: unknown, responses: StatusResponses): Promise<void> {
    let parsed: unknown;
    try {
      const status = successStatusOf(this.#operation, output, this.#scope.responseControls);
      parsed = await responses.get(status)?.parse(output);
    } catch (cause) {
      return this.#fail(invalidOutput(cause));
    }
    this.#succeed(parsed);
  }

  /** Waits for the first event, since its error can still be the response. */
  async #streamEvents(output: unknown, parse: (event: unknown) => unknown): Promise<void> {
    const { errorResponse, limits, maxDurationMs, pingMs, watch } = this.#options;
    let content: ResponseContent;
    try {
      content = await eventContent(output, {
        parse,
        scope: this.#scope,
        maxEventBytes: limits.maxResponseBytes,
        pingMs,
        maxDurationMs,
        watch: (onRevoked) => watch(this.#scope, onRevoked),
        // Errors have a JSON text as their body.
        reportError: (cause) =>
          errorResponse(cause, this.#scope, undefined, this.#operation.procedure.errors).body as string,
      });
    } catch (cause) {
      return this.#fail(cause);
    }
    this.#succeed(undefined, content);
  }

  /** Encodes the output of the call, or begins the stream of its events. */
  #succeed(value: unknown, events?: ResponseContent): void {
    const { responseMeta } = this.#options;
    const { output, procedure } = this.#operation;
    let content = events;
    try {
      const { responseControls } = this.#scope;
      if (output.kind === 'bytes') content = byteContent(value, output.contentType);
      else if (output.kind === 'media') content = this.#mediaContent(value, output.types);
      const response = successResponse(
        this.#operation,
        this,
        value,
        content,
        responseControls,
        this.#options,
      );
      const isStream = output.kind === 'bytes' || output.kind === 'events';
      responseMeta?.(response, procedure, this.#scope.context, isStream ? undefined : { output: value });
      this.#respond(response);
    } catch (cause) {
      if (isBodyStream(content?.body)) void discardStream(content.body);
      this.#fail(cause);
    }
  }

  /** The body in the media type that the request accepts; `undefined` where the status has none. */
  #mediaContent(value: unknown, types: MediaTypes): ResponseContent | undefined {
    const type = this.#mediaType ?? '';
    const { limits } = this.#options;
    return statusHasBody(successStatusOf(this.#operation, value, this.#scope.responseControls))
      ? mediaContent(value, type, types.get(type) ?? true, limits.maxResponseBytes)
      : undefined;
  }

  /** Responds with the error of the call. */
  #fail(cause: unknown): void {
    const { errorResponse, responseMeta } = this.#options;
    const { deprecation, input, procedure } = this.#operation;
    const { isAborted } = this.#scope.request;
    // The error of a call whose client disconnected is not one of the service.
    const error = isAborted ? clientClosed(cause) : failureOf(cause).error;
    const headers = error.code === 'NOT_FOUND' ? deprecation : [];
    let response = errorResponse(error, this.#scope, headers, procedure.errors, input.places);
    if (responseMeta && !isAborted) {
      try {
        responseMeta(response, procedure, this.#scope.context, { error });
      } catch (metaError) {
        const failure = new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: metaError });
        response = errorResponse(failure, this.#scope);
      }
    }
    this.#respond(response);
  }

  /** Responds with an error of a request that is no call. */
  #reject(cause: unknown): void {
    const { error } = failureOf(cause);
    const isType = error.code === 'UNSUPPORTED_MEDIA_TYPE';
    const accepts = isType ? this.#operation.input.body?.accepts : undefined;
    this.#respond(this.#options.errorResponse(error, this.#scope, accepts));
  }

  /** Closes an upload once its response has all that it needs of it. */
  #closeWith(response: ResponseDraft, upload: Upload): void {
    if (isBodyStream(response.body)) response.body = reportedStream(response.body, () => upload.close());
    else upload.close();
  }

  #respond(response: ResponseDraft): void {
    if (this.#operation.output.kind === 'media') response.headers.push(varyByAccept);
    if (this.body instanceof Upload) this.#closeWith(response, this.body);
    if (this.#reservation === undefined) this.#end(response);
    else if (this.#isLate) void this.#reservation.completeLate(response, this.#scope);
    else void this.#reservation.complete(response, this.#scope).then(() => this.#end(response));
  }

  #end(response: ResponseDraft): void {
    this.#response = response;
    this.#resolve?.(response);
  }
}
