// Hot path: every REST request runs through it.
import { TRPCError } from '@trpc/server';
import { isThenable, type MaybePromise } from '../../http/maybePromise.ts';
import { OutgoingResponse } from '../../http/outgoingResponse.ts';
import type { HttpRequest } from '../../http/request.ts';
import { isBodyStream, type Header } from '../../http/response.ts';
import { reportedStream } from '../../http/reportedStream.ts';
import type { EventStreamTimes } from '../../http/serverSentEvents.ts';
import type { Spool } from '../../http/upload.ts';
import type { LinkBase } from '../../operations/deprecation.ts';
import type { Operation } from '../../operations/operation.ts';
import type { StatusResponses } from '../../operations/operationOutput.ts';
import type { Calls, OutcomeReceiver } from '../../calls/calls.ts';
import type { CredentialWatch } from '../../auth/credentialWatch.ts';
import type { Idempotency, IdempotencyReservation } from '../../policies/idempotency.ts';
import { idempotencyKey } from '../../calls/idempotencyKey.ts';
import type { Limits } from '../../calls/limits.ts';
import type { Target } from '../../calls/policy.ts';
import type { RequestScope } from '../../calls/requestScope.ts';
import { scopeRejection } from '../../auth/scopes.ts';
import type { ContextOptions } from '../../procedures/contextOptions.ts';
import { invalidOutput } from '../../procedures/compile.ts';
import { Failure, failureOf, type RawInputs } from '../../procedures/execute.ts';
import type { Protocol } from '../protocol.ts';
import type { ErrorResponse } from './errorResponse.ts';
import { allowOf, methodNotAllowed } from './methodNotAllowed.ts';
import { negotiate } from './negotiate.ts';
import { formFields, type FormFields } from './formFields.ts';
import { headerTexts } from './headerFields.ts';
import { createPathMatcher, type PathMatch } from './pathMatcher.ts';
import { receiveBody, type RawBody } from './readBody.ts';
import { clientClosedError } from './receiveError.ts';
import { receiveUpload } from './receiveUpload.ts';
import { readInput, type RawInput } from './readInput.ts';
import { eventBody } from './restEvents.ts';
import { successStatusOf, writeSuccess } from './successResponse.ts';
import { Upload } from './upload.ts';

export interface RestProtocolOptions<Identity> extends EventStreamTimes {
  readonly operations: readonly Operation[];
  readonly links: LinkBase;
  /** The length of the base path, which `request.path` starts with. */
  readonly basePathLength: number;
  readonly limits: Limits;
  /** Stores uploaded files outside of memory. */
  readonly spool: Spool | undefined;
  readonly calls: Calls;
  readonly watch: CredentialWatch;
  /** `undefined` if no procedure takes a key. */
  readonly idempotency: Idempotency<Identity> | undefined;
  // A method, since its parameter is bivariant: policies may have any type of data.
  createContext(options: ContextOptions<Identity>): unknown;
  readonly errorResponse: ErrorResponse;
}

const varyByAccept: Header = ['vary', 'Accept'];

/** The operations of one path, by method. */
type Resource = Map<string, Operation>;

/** Headers of the response to `OPTIONS`: the path's methods, and the media types that `QUERY` and `PATCH` accept. */
const optionsHeaders = (resource: Resource): Header[] => [
  ['allow', allowOf(resource)],
  ...[...resource.values()].flatMap(({ input }) => input.body?.accepts ?? []),
];

/** The resource and the operation that a request addresses. */
export interface RestTarget extends Target {
  readonly match: PathMatch<Resource> | undefined;
  readonly operation: Operation | undefined;
}

/**
 * Creates the REST protocol of a router. A request is checked in this order, and the first problem decides the status:
 * path (404), method (405), media type (415), size (413), input (400).
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
  // Created once, since its stack trace costs more than a GET.
  const notFound = new TRPCError({ code: 'NOT_FOUND', message: 'There is no operation at this path.' });

  return {
    target({ method, path }) {
      const match = matcher.match(path.slice(basePathLength));
      const operation = match?.value.get(method === 'HEAD' ? 'GET' : method);
      const cost = operation?.procedure.rateLimitCost ?? 1;
      const procedures = operation ? [operation.procedure] : [];
      return { procedures, callCount: 1, cost, isPublic: operation?.isPublic === true, match, operation };
    },
    /** Returns the path pattern of a path, such as `/pets/{petId}`, without the base path. */
    routeOf(path) {
      const [operation] = matcher.match(path.slice(basePathLength))?.value.values() ?? [];
      return operation?.rest.path;
    },
    options: (scope, { match }) =>
      match ? new OutgoingResponse(204, optionsHeaders(match.value)) : errorResponse(notFound, scope),
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
 * Serves one request, from its body to its response. The methods run in their order here. Synchronous steps create
 * neither promises nor closures.
 */
class RestCall<Identity> implements OutcomeReceiver, RawInputs, RawInput {
  readonly #options: RestProtocolOptions<Identity>;
  readonly #operation: Operation;
  readonly #scope: RequestScope<Identity>;
  readonly parameters: RawInput['parameters'];
  body: RawBody | undefined = undefined;
  #queryFields: FormFields | undefined = undefined;
  /** The negotiated media type, if the operation has several. */
  #mediaType: string | undefined = undefined;
  /** The `Idempotency-Key`, if the procedure takes one. */
  #key: string | undefined = undefined;
  #reservation: IdempotencyReservation | undefined = undefined;
  /** Whether the call has ended after its deadline, when the client had received 504. */
  #isPastDeadline = false;
  #response: OutgoingResponse | undefined = undefined;
  /** Resolves the promise of the response, if `respond` has returned one. */
  #resolve: ((response: OutgoingResponse) => void) | undefined = undefined;

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

  respond(): MaybePromise<OutgoingResponse> {
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
      return this.#respondWithoutCall(cause);
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
      return this.#respondWithoutCall(cause);
    }
    if (!(raw instanceof Promise)) return this.#setBody(raw);
    raw.then(
      (received) => this.#setBody(received),
      (cause: unknown) => this.#respondWithoutCall(cause),
    );
  }

  #setBody(body: RawBody | undefined): void {
    this.body = body;
    this.#createContext();
  }

  #createContext(): void {
    const { calls } = this.#options;
    const { identity, response, request, requestId } = this.#scope;
    const { output, procedure, rest } = this.#operation;
    this.#scope.operation = procedure.path;
    const rejection = calls.rejection(1);
    if (rejection) return this.#respondWithError(rejection);
    // A stream outlives its call: its signal must abort when the client disconnects.
    if (output.kind !== 'json') this.#scope.follow();
    let context: unknown;
    try {
      if (rest.idempotencyKey || procedure.idempotencyKey) {
        this.#key = idempotencyKey(request, procedure.idempotencyKey);
      }
      context = this.#options.createContext({
        request,
        identity,
        response,
        requestId,
        data: this.#scope.data,
        idempotencyKey: this.#key,
        info: undefined,
      });
    } catch (cause) {
      return this.#respondWithError(cause);
    }
    if (!isThenable(context)) return this.#call(context);
    calls.wait(context, this.#scope, (outcome) => {
      if (outcome instanceof Failure) this.#respondWithError(outcome.error);
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

  /** Starts the call, or replays the response of an earlier one with the same key. */
  #reserve(idempotency: Idempotency<Identity>, key: string): void {
    const { input, procedure } = this.#operation;
    const { body, parameters, queryFields, request } = this;
    const head = [parameters, [...queryFields], headerTexts(input.headers, request)];
    // An operation with an upload takes no key.
    const content = body instanceof FormData ? body : body && 'bytes' in body ? body.bytes : undefined;
    const call = { procedure, key, head, body: content };
    idempotency.begin(this.#scope, call, this.#options.calls, (begun) => {
      if (begun instanceof Failure) this.#respondWithError(begun.error);
      else if (begun instanceof OutgoingResponse) this.#end(begun);
      else {
        this.#reservation = begun;
        this.#start();
      }
    });
  }

  /** Reads the input. The first input parser calls it, after the middlewares before that. */
  read(): unknown {
    return (this.#scope.input = readInput(this.#operation, this, this.#options.limits));
  }

  settle(_index: number, outcome: unknown): void {
    const { output } = this.#operation;
    this.#reservation?.settle(outcome);
    if (outcome instanceof Failure) this.#respondWithError(outcome.error);
    else if (output.kind === 'events') void this.#streamEvents(outcome, output.parse);
    else if (output.kind !== 'bytes' && output.responses) void this.#parse(outcome, output.responses);
    else this.#respondWithOutput(outcome);
  }

  /** Stores the response of a call that ended after its deadline, to replay it when the client retries. */
  settleLate(index: number, outcome: unknown): void {
    if (this.#reservation === undefined) return;
    this.#isPastDeadline = true;
    this.#reservation.settle(outcome);
    if (outcome instanceof Failure) void this.#reservation.completeLate(undefined, this.#scope);
    else this.settle(index, outcome);
  }

  /** Parses the output with the schema of its status. */
  async #parse(output: unknown, responses: StatusResponses): Promise<void> {
    let parsed: unknown;
    try {
      const status = successStatusOf(this.#operation, output, this.#scope.response);
      parsed = await responses.get(status)?.parse(output);
    } catch (cause) {
      return this.#respondWithError(invalidOutput(cause));
    }
    this.#respondWithOutput(parsed);
  }

  /** Starts the stream of a subscription. An error before the first event can still become an error response. */
  async #streamEvents(output: unknown, parse: (event: unknown) => unknown): Promise<void> {
    const { errorResponse, limits, maxDurationMs, pingMs, watch } = this.#options;
    try {
      this.#scope.response.body = await eventBody(output, {
        parse,
        scope: this.#scope,
        maxEventBytes: limits.maxResponseBytes,
        pingMs,
        maxDurationMs,
        watch: (onRevoked) => watch(this.#scope, onRevoked),
        // The body of an error response is always a string of JSON.
        reportError: (cause) =>
          errorResponse(cause, this.#scope, undefined, this.#operation.procedure.errors).body as string,
      });
    } catch (cause) {
      return this.#respondWithError(cause);
    }
    this.#respondWithOutput(undefined);
  }

  /** Responds with the output of the call; for events, with the stream that the response has as its body. */
  #respondWithOutput(value: unknown): void {
    const { response } = this.#scope;
    try {
      writeSuccess(this.#operation, this, value, this.#mediaType, response, this.#options);
    } catch (cause) {
      response.removeBody();
      return this.#respondWithError(cause);
    }
    // Headers that the producer of a stream sets later are ignored: whether they arrive before the head depends on timing.
    this.#respond(isBodyStream(response.body) ? OutgoingResponse.of(response) : response);
  }

  /** Responds with the error of the call. */
  #respondWithError(cause: unknown): void {
    const { deprecation, input, procedure } = this.#operation;
    // If the client disconnected, the call's error is a consequence of that, not an error of the service.
    const error = this.request.isAborted ? clientClosedError(cause) : failureOf(cause).error;
    const headers = error.code === 'NOT_FOUND' ? deprecation : [];
    this.#respond(this.#options.errorResponse(error, this.#scope, headers, procedure.errors, input.places));
  }

  /** Responds with the error of a request that did not become a call. */
  #respondWithoutCall(cause: unknown): void {
    const { error } = failureOf(cause);
    const isType = error.code === 'UNSUPPORTED_MEDIA_TYPE';
    const accepts = isType ? this.#operation.input.body?.accepts : undefined;
    this.#respond(this.#options.errorResponse(error, this.#scope, accepts));
  }

  /** Closes an upload after the response, whose body may still read from it, is complete. */
  #closeWith(response: OutgoingResponse, upload: Upload): void {
    if (isBodyStream(response.body)) response.body = reportedStream(response.body, () => upload.close());
    else upload.close();
  }

  #respond(response: OutgoingResponse): void {
    if (this.#operation.output.kind === 'media') response.headers.push(varyByAccept);
    if (this.body instanceof Upload) this.#closeWith(response, this.body);
    if (this.#reservation === undefined) this.#end(response);
    else if (this.#isPastDeadline) void this.#reservation.completeLate(response, this.#scope);
    else void this.#reservation.complete(response, this.#scope).then(() => this.#end(response));
  }

  #end(response: OutgoingResponse): void {
    this.#response = response;
    this.#resolve?.(response);
  }
}
