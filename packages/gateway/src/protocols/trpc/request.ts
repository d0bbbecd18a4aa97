// Hot path: every tRPC request over HTTP is read here, once. A `URL` with its search parameters and a `Headers` cost
// more than most calls, so they are created for unusual requests only.
import { TRPCError } from '@trpc/server';
import { parseConnectionParamsFromString, type TRPCRequestInfo } from '@trpc/server/http';
import { byteStream } from '../../http/byteStream.ts';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Target } from '../../calls/policy.ts';
import { rejectLongQuery } from '../../calls/queryParameters.ts';
import type { HeaderSource } from '../../calls/scheme.ts';
import type { RawInputs } from '../../procedures/execute.ts';
import { isDeeper, depthError } from '../../procedures/jsonDepth.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import {
  acceptOf,
  bodyError,
  unreadableInput,
  joinedHeader,
  mediaOf,
  readForm,
  streamError,
  type InputMedia,
} from './media.ts';
import type { TrpcSettings } from './options.ts';

/** The phase of reading a request in which an error occurred. tRPC's response to an error depends on it. */
export type ReadPhase = 'url' | 'info' | 'checks';

/** A request, parsed into calls like in tRPC's adapters (@trpc/server 11.25). */
export class TrpcRequest implements Target, RawInputs {
  readonly http: HttpRequest;
  /** The error of the whole request: none of its calls runs. */
  error: TRPCError | undefined = undefined;
  /** The phase in which `error` occurred. */
  phase: ReadPhase = 'url';
  media: InputMedia = 'json';
  isBatchCall = false;
  paths: readonly string[] = noCalls;
  /** The procedure of each path; `undefined` for an unknown path. */
  procedures: readonly (Procedure | undefined)[] = noCalls;
  type: TRPCRequestInfo['type'] = 'unknown';
  /** The response format that the headers request. As in tRPC, null for a form and for octets. */
  accept: TRPCRequestInfo['accept'] = null;
  connectionParams: TRPCRequestInfo['connectionParams'] = null;
  readonly #settings: TrpcSettings;
  #query = '';
  /** The `input` parameter, not decoded, of a query in the form that tRPC's links write. */
  #input: string | undefined = undefined;
  /** The parameters of any other query. */
  #parameters: URLSearchParams | undefined = undefined;
  #url: URL | undefined = undefined;
  #body: Uint8Array<ArrayBuffer> | undefined = undefined;
  #inputError: TRPCError | undefined = undefined;
  /** The inputs that have been read. */
  #inputs: Record<number, unknown> | undefined = undefined;
  #form: Promise<FormData> | undefined = undefined;
  #info: TRPCRequestInfo | undefined = undefined;

  constructor(http: HttpRequest, settings: TrpcSettings) {
    this.http = http;
    this.#settings = settings;
    try {
      this.#read(settings);
    } catch (cause) {
      // `#read` throws nothing else.
      this.error = cause as TRPCError;
    }
  }

  /** The number of calls; one for a batch that is rejected as too large. */
  get callCount(): number {
    return this.phase === 'info' || this.paths.length === 0 ? 1 : this.paths.length;
  }

  get cost(): number {
    const { callCount, procedures } = this;
    if (procedures.length !== callCount) return callCount;
    return procedures.reduce((sum, procedure) => sum + (procedure?.rateLimitCost ?? 1), 0);
  }

  get isPublic(): boolean {
    if (this.#settings.publicProcedures.size === 0 || this.paths.length === 0) return false;
    return this.paths.every((path) => this.#settings.publicProcedures.has(path));
  }

  /**
   * The credential of an `EventSource`, which cannot send a header: tRPC's `httpSubscriptionLink` puts its connection
   * parameters into the query. No other request may carry one there (RFC 6750 §2.3).
   * @returns `undefined` if only the headers may carry a credential
   */
  get credentials(): HeaderSource | undefined {
    const { connectionParams, http, procedures, type } = this;
    if (connectionParams === null || type !== 'subscription' || http.method !== 'GET') return undefined;
    if (procedures.includes(undefined)) return undefined;
    if (!http.header('accept')?.includes('text/event-stream')) return undefined;
    return withParameters(http, connectionParams);
  }

  /**
   * The request target as a URL, as tRPC's adapters create it. The host is chosen by the client and does not affect the
   * call.
   * @throws {TRPCError} `BAD_REQUEST` if host and target do not form a URL
   */
  get url(): URL {
    if (this.#url) return this.#url;
    const { path, query } = this.http;
    const target = query === '' ? path : `${path}?${query}`;
    const url = URL.parse(target, `http://${this.http.header('host') ?? 'localhost'}`);
    // With credentials in the host, `new Request` throws, for which the adapters respond with 500.
    if (!url || url.username !== '' || url.password !== '') throw badRequestError('Invalid URL');
    this.#url = url;
    return url;
  }

  /** The id of the last event that the client of a subscription received. */
  get lastEventId(): string | null {
    if (this.type !== 'subscription') return null;
    const inQuery = (name: string) => this.#parameters?.get(name) ?? null;
    return joinedHeader(this.http, 'last-event-id') ?? inQuery('lastEventId') ?? inQuery('Last-Event-Id');
  }

  /** tRPC's info about the request. */
  get info(): TRPCRequestInfo {
    return (this.#info ??= new RequestInfo(this));
  }

  /**
   * Receives a JSON body before any call runs, since each call of a batch would wait for it.
   * @returns `undefined` if the body is complete or there is none to read
   */
  receive(): Promise<void> | undefined {
    const { error, http, media } = this;
    if (error || media !== 'json' || http.method === 'GET') return undefined;
    const { maxBodyBytes } = this.#settings.limits;
    this.#body = http.bodyNow?.(maxBodyBytes);
    if (this.#body) return undefined;
    return http.body(maxBodyBytes).then(
      (body) => {
        this.#body = body;
      },
      (cause: unknown) => {
        this.#inputError = bodyError(cause);
      },
    );
  }

  /** Returns the input of a call; for a form, a promise. */
  read(index: number): unknown {
    const { lastEventId, media, procedures } = this;
    if (media === 'form') return (this.#form ??= this.#readForm());
    if (this.#inputError) throw this.#inputError;
    try {
      this.#inputs ??=
        media === 'json'
          ? this.#parse()
          : [byteStream(this.http, this.#settings.limits.maxBodyBytes, streamError)];
    } catch (cause) {
      this.#inputError = unreadableInput(cause);
      throw this.#inputError;
    }
    const input = this.#inputs[index];
    if (!lastEventId || procedures[index]?.type !== 'subscription') return input;
    return isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId });
  }

  /**
   * Returns the body of a single mutation as received, for the fingerprint of its `Idempotency-Key`.
   * @throws {TRPCError} if the body could not be read, or is a stream of bytes, which can be read only once
   */
  content(): Uint8Array<ArrayBuffer> | Promise<FormData> | undefined {
    if (this.#inputError) throw this.#inputError;
    if (this.media === 'form') return (this.#form ??= this.#readForm());
    if (this.media === 'json') return this.#body;
    throw badRequestError('Idempotency-Key: is not supported for binary input.');
  }

  /** Returns the input of a call if it has been read. */
  known(index: number): unknown {
    return this.#inputs?.[index];
  }

  #read(settings: TrpcSettings): void {
    const { http } = this;
    rejectLongQuery(http.query, settings.limits.maxQueryParameters);
    const path = this.#readPath(settings);
    // Set before anything can fail: `isPublic` needs it to serve errors of public procedures without a credential.
    this.paths = [path];
    this.media = mediaOf(http);
    const accept = acceptOf(http);
    if (this.media === 'json') {
      this.accept = accept;
      this.#readCalls(path, settings);
    } else this.#readUpload(path, settings);
    this.phase = 'checks';
    if (this.isBatchCall && settings.trpc.allowBatching === false) {
      throw badRequestError('Batching is not enabled on the server');
    }
    if (accept === 'application/jsonl' && !this.isBatchCall) {
      throw badRequestError('Streaming requests must be batched (you can do a batch of 1)');
    }
  }

  #readPath({ basePath, config: { pathSeparator } }: TrpcSettings): string {
    const { http } = this;
    let path = http.path.slice(basePath.length + 1);
    this.#query = http.query;
    if (!normalizedPath.test(http.path) || !isHost(http.header('host')) || http.query.includes('#')) {
      const { pathname, search } = this.url;
      this.#query = search.slice(1);
      path = trimSlashes(trimSlashes(pathname).slice(trimSlashes(basePath).length));
    }
    this.phase = 'info';
    if (path.includes('%')) path = decodePath(path);
    return pathSeparator === '.' ? path : path.split(pathSeparator).join('.');
  }

  #readCalls(path: string, { procedures, trpc }: TrpcSettings): void {
    this.#readQuery();
    if (this.isBatchCall) this.paths = path.split(',');
    if (this.isBatchCall && this.paths.length > trpc.maxBatchSize) {
      throw new LimitError('batch-size', { code: 'BAD_REQUEST', message: 'Batch call exceeds maximum size' });
    }
    const calledProcedures: (Procedure | undefined)[] = [];
    let isMixed = false;
    for (const each of this.paths) {
      const procedure = procedures.get(each);
      calledProcedures.push(procedure);
      if (procedure === undefined) continue;
      if (this.type === 'unknown') this.type = procedure.type;
      isMixed ||= procedure.type !== this.type;
    }
    this.procedures = calledProcedures;
    if (isMixed) {
      const types = new Set(calledProcedures.flatMap((procedure) => procedure?.type ?? []));
      throw badRequestError(`Cannot mix procedure types in call: ${[...types].join(', ')}`);
    }
    const connectionParams = this.#parameters?.get('connectionParams') ?? null;
    if (connectionParams !== null) this.connectionParams = parseConnectionParamsFromString(connectionParams);
  }

  #readQuery(): void {
    const query = this.#query;
    this.isBatchCall = query === 'batch=1' || query.startsWith('batch=1&');
    const rest = this.isBatchCall ? query.slice('batch=1&'.length) : query;
    if (rest === '') return;
    if (rest.startsWith('input=') && !rest.includes('&')) this.#input = rest.slice('input='.length);
    else {
      this.#parameters = new URLSearchParams(query);
      this.isBatchCall = this.#parameters.get('batch') === '1';
    }
  }

  #readUpload(path: string, { procedures }: TrpcSettings): void {
    if (this.http.method !== 'POST') {
      const type = this.media === 'form' ? 'multipart/form-data' : 'application/octet-stream';
      throw new TRPCError({
        code: 'METHOD_NOT_SUPPORTED',
        message: `Only POST requests are supported for ${type} requests`,
      });
    }
    this.procedures = [procedures.get(path)];
    // As in tRPC, for any procedure.
    this.type = 'mutation';
  }

  #parse(): Record<number, unknown> {
    const { isBatchCall, paths } = this;
    const values = Object.create(null) as Record<number, unknown>;
    const text = this.#body === undefined ? this.#queryInput() : lenientUtf8Decoder.decode(this.#body);
    this.#body = undefined;
    if (!text) return values;
    const inputs: unknown = JSON.parse(text);
    if (!isBatchCall) {
      values[0] = this.#deserialize(inputs);
      return values;
    }
    if (!isObject(inputs)) {
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: '"input" needs to be an object when doing a batch call',
      });
    }
    for (let index = 0; index < paths.length; index += 1) {
      const input = inputs[index];
      if (input !== undefined) values[index] = this.#deserialize(input);
    }
    return values;
  }

  /** Returns the JSON of the input, or of a batch's inputs. `undefined` if the query has none. */
  #queryInput(): string | undefined {
    if (this.#input === undefined) return this.#parameters?.get('input') ?? undefined;
    try {
      return decodeURIComponent(this.#input.replaceAll('+', ' '));
    } catch {
      return new URLSearchParams(this.#query).get('input') ?? undefined;
    }
  }

  #deserialize(input: unknown): unknown {
    const { config, limits } = this.#settings;
    if (isDeeper(input, limits.maxJsonDepth)) throw depthError(limits.maxJsonDepth);
    return config.transformer.input.deserialize(input);
  }

  async #readForm(): Promise<FormData> {
    const form = await readForm(this.http, this.#settings.limits.maxBodyBytes);
    this.#inputs = [form];
    return form;
  }
}

/** tRPC's request info. `url`, `signal` and `calls` are getters: they are rarely read and cost more than most calls. */
class RequestInfo implements TRPCRequestInfo {
  readonly accept: TRPCRequestInfo['accept'];
  readonly type: TRPCRequestInfo['type'];
  readonly isBatchCall: boolean;
  readonly connectionParams: TRPCRequestInfo['connectionParams'];
  readonly #request: TrpcRequest;
  #calls: TRPCRequestInfo['calls'] | undefined = undefined;

  constructor(request: TrpcRequest) {
    this.accept = request.accept;
    this.type = request.type;
    this.isBatchCall = request.isBatchCall;
    this.connectionParams = request.connectionParams;
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
    return (this.#calls ??= request.paths.map((path, batchIndex) => ({
      batchIndex,
      path,
      procedure: request.procedures[batchIndex]?.procedure ?? null,
      getRawInput: async () => request.read(batchIndex),
      result: () => request.known(batchIndex),
    })));
  }
}

const noCalls: readonly never[] = [];

const badRequestError = (message: string) => new TRPCError({ code: 'BAD_REQUEST', message });

/** Matches paths that URL parsing does not change. */
const normalizedPath = /^(?:\/\w[\w.,-]*)+$/;

const trimSlashes = (path: string) => path.replace(/^\/|\/$/g, '');

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', message: `Invalid URL-encoding in path "${path}"`, cause });
  }
}

/** The last valid `Host`, cached since nearly all requests have the same. */
let lastHost = 'localhost';

function isHost(host = 'localhost'): boolean {
  if (host === lastHost) return true;
  if (host.includes('@') || !URL.canParse(`http://${host}`)) return false;
  lastHost = host;
  return true;
}

const lenientUtf8Decoder = new TextDecoder();

/** Returns the headers of a request, with connection parameters for missing ones. Their names are case-insensitive. */
export const withParameters = (
  request: HttpRequest,
  parameters: TRPCRequestInfo['connectionParams'],
): HeaderSource => ({
  header: (header) =>
    request.header(header) ??
    Object.entries(parameters ?? {}).find(([name]) => name.toLowerCase() === header)?.[1],
});
