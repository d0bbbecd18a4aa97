// Hot path: every tRPC request over HTTP is read here, once. A URL with its search parameters and a `Headers` cost more
// than most calls: they are made for what is unusual.
import { TRPCError } from '@trpc/server';
import { parseConnectionParamsFromString, type TRPCRequestInfo } from '@trpc/server/http';
import { someHeader, type HttpRequest } from '../../http/request.ts';
import { refuseLongQuery } from '../../policies/queryParameters.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { authorizationOf } from './connectionAuthorization.ts';

/** What the requests of a gateway are read with. */
export interface RequestReader {
  /** Without a slash at its end. */
  readonly basePath: string;
  /** Whether a URL leaves the base path as it is. */
  readonly isPlainBasePath: boolean;
  readonly procedures: ReadonlyMap<string, Procedure>;
  /** The procedures that need no credential. */
  readonly publicProcedures: ReadonlySet<string>;
  readonly pathSeparator: string;
  readonly allowBatching: boolean;
  readonly maxBatchSize: number;
  readonly maxQueryParameters: number;
}

/** How far reading came before it failed: tRPC's answer to an error depends on it. */
export type ReadPhase = 'url' | 'info' | 'checks';

/** How a request sends its input: `json` in the query of a GET, else in the body. */
export type InputMedia = 'json' | 'form' | 'octets';

/** A request read into calls, as tRPC's adapters (@trpc/server 11.25) read it. */
export class TrpcRequest {
  readonly http: HttpRequest;
  readonly reader: RequestReader;
  /** Why none of its calls runs. */
  error: TRPCError | undefined = undefined;
  /** Where `error` occurred. */
  phase: ReadPhase = 'url';
  media: InputMedia = 'json';
  isBatch = false;
  paths: readonly string[] = none;
  /** The procedure of each path; `undefined` where there is none. */
  procedures: readonly (Procedure | undefined)[] = none;
  type: TRPCRequestInfo['type'] = 'unknown';
  /** What the headers ask for; of a form or octets tRPC does not report it. */
  accept: string | null = null;
  connectionParams: TRPCRequestInfo['connectionParams'] = null;
  #query = '';
  /** The `input` parameter, not decoded. */
  #input: string | undefined = undefined;
  /** The query's parameters, where one has an unusual name. */
  #parameters: URLSearchParams | undefined = undefined;
  #url: URL | undefined = undefined;

  constructor(http: HttpRequest, reader: RequestReader) {
    this.http = http;
    this.reader = reader;
    try {
      this.#read(reader);
    } catch (cause) {
      // Nothing else is thrown here.
      this.error = cause as TRPCError;
    }
  }

  /** The number of calls: one for a batch that is rejected as too large. */
  get calls(): number {
    return this.phase === 'info' || this.paths.length === 0 ? 1 : this.paths.length;
  }

  /** Whether all its procedures are served without a credential. */
  get isPublic(): boolean {
    const { publicProcedures } = this.reader;
    if (publicProcedures.size === 0 || this.paths.length === 0) return false;
    for (let at = 0; at < this.paths.length; at += 1) {
      if (!publicProcedures.has(this.paths[at] as string)) return false;
    }
    return true;
  }

  /**
   * The credential of an `EventSource`, which cannot send a header: tRPC's `httpSubscriptionLink` puts its connection
   * parameters into the query. No other request may carry one there (RFC 6750 §2.3).
   * @returns `undefined` where the header decides
   */
  get authorization(): string | undefined {
    if (this.connectionParams === null || this.type !== 'subscription' || this.http.method !== 'GET')
      return undefined;
    if (this.procedures.includes(undefined) || this.http.header('authorization') !== undefined)
      return undefined;
    if (!this.http.header('accept')?.includes('text/event-stream')) return undefined;
    return authorizationOf(this.connectionParams);
  }

  /**
   * The target as a URL, as tRPC's adapters make it. The client chooses the host, which has no say in what is called.
   * @throws {TRPCError} `BAD_REQUEST` where host and target are no URL
   */
  get url(): URL {
    return (this.#url ??= targetUrl(this.http));
  }

  /** The input, or a batch's inputs, as JSON; `undefined` where the query has none. */
  get queryInput(): string | undefined {
    if (this.#parameters) return this.#parameters.get('input') ?? undefined;
    return this.#input === undefined ? undefined : decodeParameter(this.#input);
  }

  /** The id of the last event that the client of a subscription received. */
  get lastEventId(): string | null {
    if (this.type !== 'subscription') return null;
    const header = joinedHeader(this.http, 'last-event-id');
    if (header !== null || !/last-?event-?id/i.test(this.#query)) return header;
    const parameters = new URLSearchParams(this.#query);
    return parameters.get('lastEventId') ?? parameters.get('Last-Event-Id');
  }

  #read(reader: RequestReader): void {
    const { http } = this;
    refuseLongQuery(http.query, reader.maxQueryParameters);
    const path = this.#readPath(reader);
    // Whatever is wrong with the rest: public procedures need no credential.
    this.paths = [path];
    this.media = mediaOf(http);
    if (someHeader(http, asksForLines)) this.accept = acceptOf(http);
    if (this.media === 'json') this.#readCalls(path, reader);
    else this.#readUpload(path, reader);
    this.phase = 'checks';
    this.#check(reader);
  }

  #readPath({ basePath, isPlainBasePath, pathSeparator }: RequestReader): string {
    const { http } = this;
    let path = http.path.slice(basePath.length + 1);
    this.#query = http.query;
    if (
      !isPlainBasePath ||
      !plainPath.test(path) ||
      !isHost(http.header('host')) ||
      http.query.includes('#')
    ) {
      const { pathname, search } = this.url;
      this.#query = search.slice(1);
      path = trimSlashes(trimSlashes(pathname).slice(trimSlashes(basePath).length));
    }
    this.phase = 'info';
    if (path.includes('%')) path = decodePath(path);
    return pathSeparator === '.' ? path : path.split(pathSeparator).join('.');
  }

  #readCalls(path: string, reader: RequestReader): void {
    const connectionParams = this.#readQuery();
    if (this.isBatch) this.paths = path.split(',');
    if (this.isBatch && this.paths.length > reader.maxBatchSize) {
      throw new LimitError('batch-size', { code: 'BAD_REQUEST', message: 'Batch call exceeds maximum size' });
    }
    this.#findProcedures(reader);
    if (connectionParams !== null) this.connectionParams = parseConnectionParamsFromString(connectionParams);
  }

  /** @returns the connection parameters, as JSON */
  #readQuery(): string | null {
    const query = this.#query;
    let batch: string | undefined;
    for (let at = 0; at < query.length;) {
      const found = query.indexOf('&', at);
      const end = found === -1 ? query.length : found;
      const equals = query.indexOf('=', at);
      const hasValue = equals !== -1 && equals < end;
      const name = query.slice(at, hasValue ? equals : end);
      const value = hasValue ? query.slice(equals + 1, end) : '';
      if (name === 'input') this.#input ??= value;
      else if (name === 'batch') batch ??= value;
      // An encoded name may be one of these.
      else if (name === 'connectionParams' || name.includes('%')) {
        this.#parameters = new URLSearchParams(query);
        this.isBatch = this.#parameters.get('batch') === '1';
        return this.#parameters.get('connectionParams');
      }
      at = end + 1;
    }
    this.isBatch = batch === '1' || batch === '%31';
    return null;
  }

  #findProcedures({ procedures }: RequestReader): void {
    const found: (Procedure | undefined)[] = [];
    let isMixed = false;
    for (let at = 0; at < this.paths.length; at += 1) {
      const procedure = procedures.get(this.paths[at] as string);
      found.push(procedure);
      if (procedure === undefined || procedure.type === this.type) continue;
      if (this.type === 'unknown') this.type = procedure.type;
      else isMixed = true;
    }
    this.procedures = found;
    if (!isMixed) return;
    const types = new Set(found.flatMap((procedure) => procedure?.type ?? []));
    throw badRequest(`Cannot mix procedure types in call: ${[...types].join(', ')}`);
  }

  #readUpload(path: string, { procedures }: RequestReader): void {
    if (this.http.method !== 'POST') {
      const type = this.media === 'form' ? 'multipart/form-data' : 'application/octet-stream';
      throw new TRPCError({
        code: 'METHOD_NOT_SUPPORTED',
        message: `Only POST requests are supported for ${type} requests`,
      });
    }
    this.procedures = [procedures.get(path)];
    // Whatever the procedure is.
    this.type = 'mutation';
  }

  #check({ allowBatching }: RequestReader): void {
    if (this.isBatch && !allowBatching) throw badRequest('Batching is not enabled on the server');
    if (this.accept === linesType && !this.isBatch) {
      throw badRequest('Streaming requests must be batched (you can do a batch of 1)');
    }
  }
}

export const linesType = 'application/jsonl';

const none: readonly never[] = [];

const badRequest = (message: string) => new TRPCError({ code: 'BAD_REQUEST', message });

/** Names that a URL leaves as they are. */
const plainPath = /^\w[\w.,-]*$/;

const trimSlashes = (path: string) => path.replace(/^\/|\/$/g, '');

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', message: `Invalid URL-encoding in path "${path}"`, cause });
  }
}

/** The value of a query parameter, as `URLSearchParams` has it. */
function decodeParameter(encoded: string): string {
  try {
    return decodeURIComponent(encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded);
  } catch {
    return new URLSearchParams(`input=${encoded}`).get('input') as string;
  }
}

/** @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE` */
function mediaOf(http: HttpRequest): InputMedia {
  const contentType = http.header('content-type');
  if (contentType === 'application/json') return 'json';
  const media = contentType && medias.get((contentType.split(';', 1)[0] as string).trim().toLowerCase());
  if (media) return media;
  if (http.method === 'GET') return 'json';
  const isNamed = someHeader(http, (name) => name === 'content-type');
  throw new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: isNamed ? `Unsupported content-type "${contentType ?? ''}` : 'Missing content-type header',
  });
}

const medias: ReadonlyMap<string, InputMedia> = new Map([
  ['application/json', 'json'],
  ['multipart/form-data', 'form'],
  ['application/octet-stream', 'octets'],
]);

/** By length first: a string from outside is not internalized, and comparing it costs more. */
const asksForLines = (name: string, value: string) =>
  (name.length === 11 && name === 'trpc-accept') ||
  (name.length === 6 && name === 'accept' && value.includes('jsonl'));

function acceptOf(http: HttpRequest): string | null {
  const accept = joinedHeader(http, 'trpc-accept');
  if (accept !== null) return accept;
  const types = joinedHeader(http, 'accept')?.split(',') ?? [];
  return types.some((type) => type.trim() === linesType) ? linesType : null;
}

/** All values of a header, as `Headers` joins them. */
function joinedHeader(http: HttpRequest, name: string): string | null {
  let joined: string | null = null;
  for (const [other, value] of http.headers()) {
    if (other === name) joined = joined === null ? value : `${joined}, ${value}`;
  }
  return joined;
}

/** The last valid `Host`: nearly all requests have the same. */
let lastHost = 'localhost';

function isHost(host = 'localhost'): boolean {
  if (host === lastHost) return true;
  if (host.includes('@') || !URL.canParse(`http://${host}`)) return false;
  lastHost = host;
  return true;
}

/** @throws {TRPCError} `BAD_REQUEST` */
function targetUrl(http: HttpRequest): URL {
  const target = `${http.path}${http.query === '' ? '' : `?${http.query}`}`;
  const url = URL.parse(target, `http://${http.header('host') ?? 'localhost'}`);
  // A Host with a user: a `Request` of it throws, which the adapters answer with 500.
  if (url !== null && url.username === '' && url.password === '') return url;
  throw badRequest('Invalid URL');
}
