import {
  getErrorShape,
  getTRPCErrorFromUnknown,
  transformTRPCResponse,
  TRPCError,
  type AnyTRPCRouter,
  type inferRouterContext,
} from '@trpc/server';
import { getHTTPStatusCodeFromError, resolveResponse, type TRPCRequestInfo } from '@trpc/server/http';
import { after } from '../after.ts';
import { Answer } from '../answer.ts';
import { Refusal, type Admission, type Authentication } from '../authentication.ts';
import { BodyTooLargeError, type GatewayBodyStream, type GatewayRequest } from '../http.ts';
import { idempotencyKey } from '../idempotencyKey.ts';
import type { ContextOptions, RpcOptions } from '../options.ts';
import { percentDecode } from '../percentDecode.ts';
import { Reply } from '../reply.ts';

/** Answers one request below the tRPC base path. It never throws and never rejects. */
export type RpcWire = (request: GatewayRequest, requestId: string) => Answer | Promise<Answer>;

export interface RpcWireOptions<Router extends AnyTRPCRouter, Identity> {
  readonly router: Router;
  /** Without a slash at its end. */
  readonly basePath: string;
  readonly rpc: RpcOptions<Router>;
  readonly maxBodyBytes: number;
  readonly authentication: Authentication<Identity>;
  /** The procedures that need no credential. */
  readonly publicProcedures: ReadonlySet<string>;
  /** The procedures that take an `Idempotency-Key`. */
  readonly idempotentProcedures: ReadonlySet<string>;
  readonly createContext: (
    options: ContextOptions<Identity>,
  ) => inferRouterContext<Router> | Promise<inferRouterContext<Router>>;
}

/**
 * The tRPC face of a router, through tRPC's own `resolveResponse`: what its standalone adapter answers, we answer. Two
 * things differ: the credential is checked before anything else, and OPTIONS is a preflight.
 */
export function createRpcWire<Router extends AnyTRPCRouter, Identity>(
  options: RpcWireOptions<Router, Identity>,
): RpcWire {
  const { router, basePath, authentication, publicProcedures } = options;

  return (request, requestId) => {
    if (request.method === 'OPTIONS') return new Answer(204, [['allow', 'GET, POST, HEAD, OPTIONS']]);
    return after(authentication(request), (admission: Admission<Identity>) => {
      if (!(admission instanceof Refusal)) return resolve(request, requestId, admission.identity);
      return isPublic(request) ? resolve(request, requestId, undefined) : refuse(admission);
    });
  };

  function isPublic(request: GatewayRequest): boolean {
    if (publicProcedures.size === 0) return false;
    const paths = procedurePaths(request, basePath);
    return paths.length > 0 && paths.every((path) => publicProcedures.has(path));
  }

  /** One error, unbatched: every link of the client understands it, whatever was called. */
  function refuse({ error, challenge }: Refusal): Answer {
    // The text of what `authenticate` threw was not written for a client.
    const isForClients = error.cause === undefined || error.message !== error.cause.message;
    const answer = envelope(isForClients ? error : new TRPCError({ code: error.code }));
    answer.headers.push(['content-type', 'application/json']);
    if (challenge !== undefined) answer.headers.push(['www-authenticate', challenge]);
    if (answer.status >= 500) answer.error = error;
    return answer;
  }

  function envelope(error: TRPCError): Answer {
    // Not what the router says: these errors are the gateway's own, and their stacks too.
    const config = { ...router._def._config, isDev: false };
    const shape = getErrorShape({
      config,
      error,
      type: 'unknown',
      path: undefined,
      input: undefined,
      ctx: undefined,
    });
    return new Answer(
      getHTTPStatusCodeFromError(error),
      [],
      JSON.stringify(transformTRPCResponse(config, { error: shape })),
    );
  }

  /** @throws {TRPCError} `BAD_REQUEST` for a batch: its calls would share one key */
  function callKey(request: GatewayRequest, { calls, isBatchCall }: TRPCRequestInfo): string | undefined {
    if (!calls.some(({ path }) => options.idempotentProcedures.has(path))) return undefined;
    const key = idempotencyKey(request);
    if (key === undefined || !isBatchCall) return key;
    throw new TRPCError({
      code: 'BAD_REQUEST',
      message:
        'Idempotency-Key: a batch cannot have one; send the call on its own (httpLink, not httpBatchLink).',
    });
  }

  async function resolve(
    request: GatewayRequest,
    requestId: string,
    identity: Identity | undefined,
  ): Promise<Answer> {
    const reply = new Reply();
    let isBatch = false;
    let operation: string | undefined;
    let unexpected: unknown;
    const { onError, ...handlerOptions } = options.rpc;
    try {
      const url = targetUrl(request);
      const response = await resolveResponse({
        ...handlerOptions,
        router,
        req: fetchRequest(request, url, options.maxBodyBytes),
        path: procedurePath(url, basePath),
        error: null,
        createContext: async ({ info }) => {
          isBatch = info.isBatchCall;
          operation = info.calls.map(({ path }) => path).join(',');
          return options.createContext({
            request,
            identity,
            reply,
            requestId,
            idempotencyKey: callKey(request, info),
            info,
          });
        },
        onError(failure) {
          if (getHTTPStatusCodeFromError(failure.error) >= 500) unexpected = failure.error;
          onError?.({ ...failure, req: request });
        },
      });
      // Nobody is there to be told, and nothing failed but the connection.
      if (request.signal.aborted) return new Answer(499, []);
      const answer = await toAnswer(response);
      if (!isBatch) for (const [name, value] of reply.headers) answer.headers.push([name, value]);
      answer.operation = operation;
      answer.error = unexpected;
      return answer;
    } catch (cause) {
      const error = getTRPCErrorFromUnknown(cause);
      onError?.({ error, type: 'unknown', path: undefined, input: undefined, ctx: undefined, req: request });
      const answer = envelope(error);
      if (answer.status >= 500) answer.error = error;
      return answer;
    }
  }
}

/**
 * The target as a URL, as tRPC's adapters make it: the host it names is nobody's choice but the client's, and has no say
 * in which procedure is called.
 * @throws {TRPCError} `BAD_REQUEST` where host and target make no URL
 */
function targetUrl(request: GatewayRequest): URL {
  const origin = `http://${request.header('host') ?? 'localhost'}`;
  const target = `${request.path}${request.query === '' ? '' : `?${request.query}`}`;
  const url = URL.canParse(target, origin) ? new URL(target, origin) : undefined;
  // A Host of the form user@name: a `Request` of it throws, which the adapters answer with 500.
  if (url !== undefined && url.username === '' && url.password === '') return url;
  throw new TRPCError({ code: 'BAD_REQUEST', message: 'Invalid URL' });
}

// As tRPC's adapters find the procedure's path: without the slashes around it.
const trimSlashes = (path: string) => path.replace(/^\/|\/$/g, '');
const procedurePath = ({ pathname }: URL, basePath: string) =>
  trimSlashes(trimSlashes(pathname).slice(trimSlashes(basePath).length));

/** The procedures that a target names: several, joined by commas, in a batch. None where it is no URL. */
function procedurePaths(request: GatewayRequest, basePath: string): readonly string[] {
  try {
    const url = targetUrl(request);
    const decoded = percentDecode(procedurePath(url, basePath)) ?? '';
    return url.searchParams.get('batch') === '1' ? decoded.split(',') : [decoded];
  } catch {
    return [];
  }
}

/** Headers of which Node keeps the first where one is repeated, and so do the adapters that stand on it. */
const singletons = new Set(
  (
    'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since ' +
    'last-modified location max-forwards proxy-authorization referer retry-after server user-agent'
  ).split(' '),
);

// RFC 9110 §9.1: Node's parser refuses what is no token, uWebSockets.js passes it on.
const methodToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * A request as `resolveResponse` takes it.
 * @throws {TRPCError} `BAD_REQUEST` for a method that is none
 */
function fetchRequest(request: GatewayRequest, url: URL, maxBodyBytes: number): Request {
  const { method, signal } = request;
  if (!methodToken.test(method)) throw new TRPCError({ code: 'BAD_REQUEST', message: 'Invalid method' });
  const headers = new Headers();
  for (const [name, value] of request.headers()) {
    if (!singletons.has(name) || !headers.has(name)) headers.append(name, value);
  }
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const bytes = await request.body(maxBodyBytes);
        if (bytes.byteLength > 0) controller.enqueue(bytes);
        controller.close();
      } catch (cause) {
        controller.error(
          cause instanceof BodyTooLargeError ? new TRPCError({ code: 'PAYLOAD_TOO_LARGE' }) : cause,
        );
      }
    },
  });
  return new Request(url, { method, headers, signal, body, duplex: 'half' });
}

async function toAnswer(response: Response): Promise<Answer> {
  const headers: [string, string][] = [];
  let isStream = false;
  for (const [name, value] of response.headers) {
    // The host frames the body: a stream is chunked, anything else has a length.
    if (name === 'transfer-encoding' || value === 'text/event-stream') isStream = true;
    if (name !== 'transfer-encoding' && name !== 'connection') headers.push([name, value]);
  }
  if (response.body === null) return new Answer(response.status, headers);
  const body: string | GatewayBodyStream = isStream ? response.body : await response.text();
  return new Answer(response.status, headers, body);
}
