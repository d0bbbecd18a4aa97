// Hot path: reads each tRPC request over HTTP once. A `URL` costs more than most calls: for unusual requests only.
import { TRPCError } from '@trpc/server';
import { parseConnectionParamsFromString, type TRPCRequestInfo } from '@trpc/server/http';
import { isObject } from '../../http/isObject.ts';
import { BodyTooLargeError, byteStream, type HttpRequest } from '../../http/request.ts';
import type { Target } from '../../calls/policy.ts';
import { rejectManyParameters } from '../../calls/queryParameters.ts';
import { rejectContentEncoding } from '../../calls/receiveError.ts';
import type { HeaderSource } from '../../calls/scheme.ts';
import { failureOf, readableCause } from '../../procedures/execute.ts';
import { jsonError } from '../../procedures/jsonLimits.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedure.ts';
import type { TrpcSettings } from './options.ts';

/** The format of a request's input. `json` is in the query of a GET, otherwise in the body. */
type InputMedia = 'json' | 'form' | 'octets';

/** A request, parsed into calls like in tRPC's adapters (@trpc/server 11.25). */
export class TrpcRequest implements Target {
  readonly http: HttpRequest;
  /** The error of the whole request: none of its calls runs. */
  error: TRPCError | undefined = undefined;
  /** tRPC's info about the request; `undefined` if it could not be read. */
  info: TRPCRequestInfo | undefined = undefined;
  isBatchCall = false;
  /** The type of its procedures; `unknown` if it could not be read. */
  type: TRPCRequestInfo['type'] = 'unknown';
  paths: readonly string[] = noCalls;
  /** The procedure of each path; `undefined` for an unknown path. */
  procedures: readonly (Procedure | undefined)[] = noCalls;
  /** Whether a procedure may have an `Idempotency-Key`. */
  takesKey = false;
  /** Whether it is a batch, and a procedure has its own deadline. */
  hasOwnDeadlines = false;
  /** The number of calls; one if it could not be read, such as a batch that is too large. */
  callCount = 1;
  /** Where its credential may be; `undefined` for its headers only. */
  credentials: HeaderSource | undefined = undefined;
  /** The inputs of its calls, once one of them was read. */
  inputs: readonly unknown[] = noCalls;
  readonly #settings: TrpcSettings;
  #media: InputMedia = 'json';
  #query: string;
  /** The `input` parameter, not decoded, of a query in the form that tRPC's links write. */
  #input = '';
  /** The parameters of any other query. */
  #parameters: URLSearchParams | undefined = undefined;
  #body: Uint8Array<ArrayBuffer> | undefined = undefined;
  #form: FormData | undefined = undefined;
  #inputError: TRPCError | undefined = undefined;

  constructor(http: HttpRequest, settings: TrpcSettings) {
    const { config, limits, paths, procedures, trpc } = settings;
    this.http = http;
    this.#settings = settings;
    this.#query = http.query;
    try {
      // A shorter query cannot have too many parameters.
      if (http.query.length >= limits.maxQueryParameters)
        rejectManyParameters(http.query, limits.maxQueryParameters);
      let path = usualPath.test(http.path)
        ? http.path.slice(paths.trpcBasePath.length + 1)
        : this.#readUnusualPath();
      if (config.pathSeparator !== '.') path = path.split(config.pathSeparator).join('.');
      // Set before anything can fail: `isPublic` needs it to serve errors of public procedures without a credential.
      this.paths = [path];
      const contentType = http.header('content-type');
      if (contentType !== 'application/json' && (contentType !== undefined || http.method !== 'GET')) {
        this.#media = mediaOf(contentType, http.method);
      }
      if (http.method !== 'GET') rejectContentEncoding(http);
      // As in tRPC, any value of the first is passed on.
      const accept =
        (http.header('trpc-accept') as TRPCRequestInfo['accept'] | undefined) ??
        (linesType.test(http.header('accept') ?? '') ? 'application/jsonl' : null);
      if (this.#media === 'json') this.#readCalls(path, accept);
      else {
        // As in tRPC, for any procedure.
        this.type = 'mutation';
        const procedure = procedures.get(path);
        this.procedures = [procedure];
        this.takesKey = procedure?.idempotencyKey !== undefined;
        this.info = new RequestInfo(this, null, null);
      }
      this.callCount = this.paths.length;
      if (this.isBatchCall && trpc.allowBatching === false) {
        throw badRequestError('Batching is not enabled on the server');
      }
      if (accept === 'application/jsonl' && !this.isBatchCall) {
        throw badRequestError('Streaming requests must be batched (you can do a batch of 1)');
      }
    } catch (cause) {
      // Nothing else is thrown.
      this.error = cause as TRPCError;
    }
  }

  /** The cost of its calls for the rate limit. */
  get cost(): number {
    if (this.info === undefined) return 1;
    return this.procedures.reduce((sum, procedure) => sum + (procedure?.rateLimitCost ?? 1), 0);
  }

  get isPublic(): boolean {
    const { procedures } = this.#settings;
    return this.paths.length > 0 && this.paths.every((path) => procedures.get(path)?.isPublic);
  }

  /**
   * The target as a URL, as in tRPC's adapters. The host, of the client's choice, does not affect the call.
   * @throws {TRPCError} `BAD_REQUEST` if they form no URL
   */
  get url(): URL {
    const { path, query } = this.http;
    const target = query === '' ? path : `${path}?${query}`;
    const url = URL.parse(target, `http://${this.http.header('host') ?? 'localhost'}`);
    if (!url) throw badRequestError('Invalid URL');
    return url;
  }

  /** The id of the last event that the client of a subscription received. */
  get lastEventId(): string | null {
    const parameters = this.#parameters;
    const inQuery = parameters?.get('lastEventId') ?? parameters?.get('Last-Event-Id');
    return this.http.header('last-event-id') ?? inQuery ?? null;
  }

  /** Receives the body of a POST before any call. `undefined` if JSON is complete, or it is a byte stream. */
  receive(): Promise<void> | undefined {
    if (this.#media === 'octets') return undefined;
    this.#body = this.http.bodyNow?.(this.#settings.limits.maxBodySize);
    return this.#body && this.#media === 'json' ? undefined : this.#receive();
  }

  async #receive(): Promise<void> {
    const { http } = this;
    try {
      this.#body ??= await http.body(this.#settings.limits.maxBodySize);
      if (this.#media !== 'form') return;
      const headers = { 'content-type': http.header('content-type') as string };
      this.#form = await new Response(this.#body, { headers }).formData();
    } catch (cause) {
      this.#inputError = bodyError(cause);
    }
  }

  read(index: number): unknown {
    if (this.inputs === noCalls) this.#readInputs();
    const input = this.inputs[index];
    const lastEventId = this.type === 'subscription' ? this.lastEventId : null;
    return lastEventId ? withLastEventId(input, lastEventId) : input;
  }

  /**
   * Returns the body of a single mutation as received, for the fingerprint of its `Idempotency-Key`.
   * @throws {TRPCError} if the body could not be read, or is a stream of bytes, which can be read only once
   */
  content(): Uint8Array<ArrayBuffer> | FormData | undefined {
    if (this.#inputError) throw this.#inputError;
    if (this.#media !== 'octets') return this.#form ?? this.#body;
    throw badRequestError('Idempotency-Key: is not supported for binary input.');
  }

  /** Reads a path and a query that URL parsing changes. */
  #readUnusualPath(): string {
    const { pathname, search } = this.url;
    this.#query = search.slice(1);
    const path = trimSlashes(
      trimSlashes(pathname).slice(trimSlashes(this.#settings.paths.trpcBasePath).length),
    );
    try {
      return decodeURIComponent(path);
    } catch (cause) {
      throw new TRPCError({ code: 'BAD_REQUEST', message: `Invalid URL-encoding in path "${path}"`, cause });
    }
  }

  #readCalls(path: string, accept: TRPCRequestInfo['accept']): void {
    const { limits, procedures, trpc } = this.#settings;
    const query = this.#query;
    this.isBatchCall = query === 'batch=1' || query.startsWith('batch=1&');
    const rest = this.isBatchCall ? query.slice('batch=1&'.length) : query;
    if (rest.startsWith('input=') && !rest.includes('&')) this.#input = rest.slice('input='.length);
    else if (rest !== '') {
      this.#parameters = new URLSearchParams(query);
      this.isBatchCall = this.#parameters.get('batch') === '1';
    }
    if (this.isBatchCall) {
      this.paths = path.split(',');
      if (this.paths.length > Math.min(trpc.maxBatchSize ?? Infinity, limits.maxInFlight)) {
        const message = 'Batch call exceeds maximum size';
        throw new LimitError('batch-size', { code: 'BAD_REQUEST', message });
      }
    }
    const called: (Procedure | undefined)[] = [];
    let type: TRPCRequestInfo['type'] = 'unknown';
    let isMixed = false;
    for (const each of this.paths) {
      const procedure = procedures.get(each);
      called.push(procedure);
      if (procedure === undefined) continue;
      if (type === 'unknown') type = procedure.type;
      isMixed ||= procedure.type !== type;
      this.takesKey ||= procedure.idempotencyKey !== undefined;
      this.hasOwnDeadlines ||= this.isBatchCall && procedure.callTimeoutMs !== undefined;
    }
    this.procedures = called;
    if (isMixed) {
      const types = new Set(called.flatMap((procedure) => procedure?.type ?? []));
      throw badRequestError(`Cannot mix procedure types in call: ${[...types].join(', ')}`);
    }
    const text = this.#parameters?.get('connectionParams') ?? null;
    const connectionParams = text === null ? null : parseConnectionParamsFromString(text);
    this.type = type;
    this.info = new RequestInfo(this, accept, connectionParams);
    const { http } = this;
    // An `EventSource` cannot send a header, so tRPC's `httpSubscriptionLink` puts the credential into the query. No
    // other request may have one there (RFC 6750 §2.3).
    const hasCredentials =
      connectionParams !== null &&
      type === 'subscription' &&
      http.method === 'GET' &&
      !called.includes(undefined) &&
      http.header('accept')?.includes('text/event-stream');
    if (hasCredentials) this.credentials = withParameters(http, connectionParams);
  }

  #readInputs(): void {
    if (this.#inputError) throw this.#inputError;
    const { limits, readForm } = this.#settings;
    try {
      if (this.#media === 'json') this.inputs = this.#parse();
      else if (this.#form) this.inputs = [readForm(this.paths[0] ?? '', this.#form)];
      else this.inputs = [byteStream(this.http, limits.maxBodySize, streamError)];
    } catch (cause) {
      // As in tRPC, what JSON and the transformer throw is an error of the client. Of a form, the conversion alone may throw.
      this.#inputError = this.#media === 'json' ? unreadableInput(cause) : failureOf(cause).error;
      throw this.#inputError;
    }
    // The fingerprint of a call with a key needs it.
    if (!this.takesKey) this.#body = undefined;
  }

  #parse(): readonly unknown[] {
    const { config, limits } = this.#settings;
    const json = this.#body
      ? lenientUtf8Decoder.decode(this.#body)
      : (this.#parameters?.get('input') ?? decodeParameter(this.#input));
    if (json === '') return [];
    const value: unknown = JSON.parse(json);
    const inputs: unknown[] = [];
    if (this.isBatchCall && !isObject(value))
      throw badRequestError('"input" needs to be an object when doing a batch call');
    for (let index = 0; index < this.paths.length; index += 1) {
      inputs.push(this.isBatchCall ? (value as Record<number, unknown>)[index] : value);
    }
    // Each level takes two characters at least.
    const error = json.length > 2 * limits.maxJsonDepth ? jsonError(inputs, limits, 1) : undefined;
    if (error) throw error;
    for (let index = 0; index < inputs.length; index += 1) {
      const input = inputs[index];
      if (input !== undefined) inputs[index] = config.transformer.input.deserialize(input);
    }
    return inputs;
  }
}

/** tRPC's info about a request. `url`, `signal` and `calls` are getters: they are rarely read and cost more than most calls. */
class RequestInfo implements TRPCRequestInfo {
  readonly accept: TRPCRequestInfo['accept'];
  readonly type: TRPCRequestInfo['type'];
  readonly isBatchCall: boolean;
  readonly connectionParams: TRPCRequestInfo['connectionParams'];
  readonly #request: TrpcRequest;

  constructor(
    request: TrpcRequest,
    accept: TRPCRequestInfo['accept'],
    connectionParams: TRPCRequestInfo['connectionParams'],
  ) {
    this.accept = accept;
    this.type = request.type;
    this.isBatchCall = request.isBatchCall;
    this.connectionParams = connectionParams;
    this.#request = request;
  }

  get url(): URL {
    return this.#request.url;
  }

  get signal(): AbortSignal {
    return this.#request.http.signal;
  }

  get calls(): TRPCRequestInfo['calls'] {
    const request = this.#request;
    return request.paths.map((path, batchIndex) => ({
      batchIndex,
      path,
      procedure: request.procedures[batchIndex]?.procedure ?? null,
      getRawInput: async () => request.read(batchIndex),
      result: () => request.inputs[batchIndex],
    }));
  }
}

const noCalls: readonly never[] = [];

const badRequestError = (message: string) => new TRPCError({ code: 'BAD_REQUEST', message });

/** Matches paths that URL parsing does not change. */
const usualPath = /^(?:\/\w[\w.,-]*)+$/;

const trimSlashes = (path: string) => path.replace(/^\/|\/$/g, '');

/** Matches an `Accept` that has the media type of JSON lines. */
const linesType = /(?:^|,)[\t ]*application\/jsonl[\t ]*(?:,|$)/;

const lenientUtf8Decoder = new TextDecoder();

/** Decodes the value of a parameter as `URLSearchParams` does, which takes longer and accepts any bytes. */
function decodeParameter(value: string): string {
  try {
    // Few have a plus sign: this check takes a tenth of the time of replacing.
    return decodeURIComponent(value.includes('+') ? value.replaceAll('+', ' ') : value);
  } catch {
    return new URLSearchParams(`value=${value}`).get('value') as string;
  }
}

/**
 * Returns the format of an input.
 * @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE`; `METHOD_NOT_SUPPORTED` for an upload that is not a POST
 */
function mediaOf(contentType: string | undefined, method: string): InputMedia {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'multipart/form-data' || type === 'application/octet-stream') {
    if (method === 'POST') return type === 'multipart/form-data' ? 'form' : 'octets';
    const message = `Only POST requests are supported for ${type} requests`;
    throw new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message });
  }
  if (type === 'application/json' || method === 'GET') return 'json';
  const message =
    contentType === undefined ? 'Missing content-type header' : `Unsupported content-type "${contentType}`;
  throw new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE', message });
}

/** Returns the input of a subscription that the client resumes after an event, as tRPC does. */
export const withLastEventId = (input: unknown, lastEventId: string): unknown =>
  isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId });

/** Converts an error while reading a stream. */
const streamError = (cause: unknown): unknown =>
  cause instanceof BodyTooLargeError ? bodyError(cause) : cause;

/** Converts an error while reading a body. For one that is too large, the message is tRPC's. */
const bodyError = (cause: unknown): TRPCError =>
  cause instanceof BodyTooLargeError
    ? new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: 'PAYLOAD_TOO_LARGE' })
    : unreadableInput(cause);

const unreadableInput = (cause: unknown): TRPCError =>
  cause instanceof TRPCError
    ? cause
    : new TRPCError({
        code: 'BAD_REQUEST',
        message: cause instanceof Error ? cause.message : 'Invalid input',
        cause: readableCause(cause),
      });

/** Returns the headers of a request, with connection parameters for missing ones. Their names are case-insensitive. */
export const withParameters = (
  request: HttpRequest,
  parameters: TRPCRequestInfo['connectionParams'],
): HeaderSource => ({
  header: (header) =>
    request.header(header) ??
    Object.entries(parameters ?? {}).find(([name]) => name.toLowerCase() === header)?.[1],
});
