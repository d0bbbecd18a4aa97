import {
  getTRPCErrorFromUnknown,
  TRPCError,
  type AnyTRPCRouter,
  type inferRouterContext,
} from '@trpc/server';
import { resolveResponse, type TRPCRequestInfo } from '@trpc/server/http';
import { Answer } from '../../http/answer.ts';
import type { Calls } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import type { CredentialWatch } from '../../policies/credentialWatch.ts';
import type { Target } from '../../policies/policy.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { answerTooLarge, batchTooLarge, boundedJson, ResponseBytes } from '../../policies/responseBytes.ts';
import { refuseLongQuery } from '../../policies/queryParameters.ts';
import { EventBody } from '../../http/eventBody.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Header } from '../../http/response.ts';
import { idempotencyKey } from '../../policies/idempotencyKey.ts';
import type { Limits } from '../../policies/limits.ts';
import type { ContextOptions } from '../../procedures/contextOptions.ts';
import type { RpcOptions } from './options.ts';
import { percentDecode } from '../../http/percentDecode.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import type { Protocol } from '../protocol.ts';
import { withReply } from './responseMeta.ts';
import { CallFailures } from './callFailures.ts';
import { calledThrough, withShallowInputs } from './calledThrough.ts';
import { connectionAuthorization } from './connectionAuthorization.ts';
import { createFastEvents } from './fastEvents.ts';
import { createFastLines } from './fastLines.ts';
import { createFastRpc } from './fastRpc.ts';
import { fetchRequest } from './fetchRequest.ts';
import type { LineOptions } from './lineAnswer.ts';
import type { PlainRequest } from './plainRequest.ts';
import { json, type RpcFailure } from './rpcFailure.ts';

/** What a tRPC request names. */
export interface RpcTarget extends Target {
  readonly paths: readonly string[];
  readonly plain: PlainRequest<LineOptions> | undefined;
}

export interface RpcWireOptions<Router extends AnyTRPCRouter, Identity> {
  readonly router: Router;
  /** Without a slash at its end. */
  readonly basePath: string;
  readonly rpc: RpcOptions<Router> & { readonly maxBatchSize: number };
  readonly limits: Limits;
  readonly calls: Calls;
  readonly definitions: readonly ProcedureDefinition[];
  readonly watch: CredentialWatch;
  /** The procedures that need no credential. */
  readonly publicProcedures: ReadonlySet<string>;
  /** The procedures that take an `Idempotency-Key`. */
  readonly idempotentProcedures: ReadonlySet<string>;
  readonly createContext: (
    options: ContextOptions<Identity>,
  ) => inferRouterContext<Router> | Promise<inferRouterContext<Router>>;
  readonly fail: RpcFailure;
}

/**
 * The tRPC face of a router, through tRPC's own `resolveResponse`: what its standalone adapter answers, we answer. Three
 * things differ: the credential is checked before anything else, OPTIONS is a preflight, and there are limits.
 */
export function createRpcWire<Router extends AnyTRPCRouter, Identity>(
  options: RpcWireOptions<Router, Identity>,
): Protocol<Identity, RpcTarget> {
  const { basePath, calls, definitions, fail, limits, publicProcedures } = options;
  const { maxBatchSize } = options.rpc;
  const router = withShallowInputs(options.router, limits.maxJsonDepth);
  const procedures: Readonly<Record<string, unknown>> = router._def.procedures;
  const subscriptions = new Set(
    definitions.flatMap(({ path, type }) => (type === 'subscription' ? [path] : [])),
  );
  const fastRpc = createFastRpc({ ...options, router });
  const fastLines = createFastLines({ ...options, router });
  const fastEvents = createFastEvents({ ...options, router });

  return {
    target(request) {
      const plain = fastRpc?.(request) ?? fastLines?.(request) ?? fastEvents?.(request);
      const paths = plain?.paths ?? pathsOf(request);
      const inQuery = connectionAuthorization(request);
      return {
        plain,
        paths,
        // A batch that is rejected as too large makes no calls.
        calls: paths.length > maxBatchSize ? 1 : Math.max(1, paths.length),
        isPublic: publicProcedures.size > 0 && areOf(paths, publicProcedures),
        // The credential that an `EventSource` has in its query.
        authorization: inQuery !== undefined && areOf(paths, subscriptions) ? inQuery : undefined,
      };
    },
    options: () => new Answer(204, [allow]),
    respond,
    reject: (error) => fail(error, [json]),
  };

  function pathsOf(request: HttpRequest): readonly string[] {
    return procedurePaths(request, basePath, router._def._config.pathSeparator);
  }

  function areOf(paths: readonly string[], known: ReadonlySet<string>): boolean {
    return paths.length > 0 && paths.every((path) => known.has(path));
  }

  function respond(scope: RequestScope<Identity>, { paths, plain }: RpcTarget): Answer | Promise<Answer> {
    const { request } = scope;
    if (plain === undefined) {
      // uWebSockets.js hands methods over as they came, and `new Request` takes `post` for POST and throws at TRACE.
      if (!methods.has(request.method)) {
        const message = `This path takes ${allow[1]}.`;
        return fail(new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message }), [json, allow]);
      }
      return resolve(scope).then((answer) => {
        const known = paths.filter((path) => Object.hasOwn(procedures, path));
        if (paths.length > maxBatchSize && answer.status === 400) answer.limit ??= 'batch-size';
        return counted(answer, known, paths.length);
      });
    }
    const given = call(scope, plain);
    return given instanceof Promise
      ? given.then((answer) => counted(answer, paths, paths.length))
      : counted(given, paths, paths.length);
  }

  /** @throws {TRPCError} `BAD_REQUEST` for a batch: its calls would share one key */
  function callKey(
    request: HttpRequest,
    { isBatchCall }: TRPCRequestInfo,
    paths: readonly string[],
  ): string | undefined {
    if (!paths.some((path) => options.idempotentProcedures.has(path))) return undefined;
    const key = idempotencyKey(request);
    if (key === undefined || !isBatchCall) return key;
    throw new TRPCError({
      code: 'BAD_REQUEST',
      message:
        'Idempotency-Key: a batch cannot have one; send the call on its own (httpLink, not httpBatchLink).',
    });
  }

  /** Most calls are plain; the rest is for `resolveResponse`. */
  function call(
    { identity, reply, request, requestId, token }: RequestScope<Identity>,
    plain: PlainRequest<LineOptions>,
  ): Answer | Promise<Answer> {
    try {
      refuseLongQuery(request.query, limits.maxQueryParameters);
      const answer = plain.answer({
        createContext: (info) =>
          options.createContext({
            request,
            identity,
            reply,
            requestId,
            idempotencyKey: callKey(request, info, plain.paths),
            info,
          }),
        reply,
        url: () => targetUrl(request),
        watch: (onRevoked) => options.watch(token, request, onRevoked),
      });
      return answer instanceof Promise ? answer.catch((cause: unknown) => broken(request, cause)) : answer;
    } catch (cause) {
      return broken(request, cause);
    }
  }

  /** Answers what no procedure has to do with, or what `resolveResponse` fails with itself. */
  async function broken(request: HttpRequest, cause: unknown): Promise<Answer> {
    const { onError } = options.rpc;
    const error = getTRPCErrorFromUnknown(cause);
    const failure = { error, type: 'unknown', path: undefined, input: undefined, ctx: undefined } as const;
    await (async () => onError?.({ ...failure, req: request }))().catch(() => {});
    return error instanceof LimitError ? fail(error, [json]) : fail(error);
  }

  async function resolve({
    identity,
    reply,
    request,
    requestId,
    token,
  }: RequestScope<Identity>): Promise<Answer> {
    let isBatch = false;
    let isLines = false;
    let operation: string | undefined;
    const failures = new CallFailures();
    const contextScope = new CallScope(request);
    let answer: Answer | undefined;
    let isSubscription = false;
    const { onError, responseMeta, ...handlerOptions } = options.rpc;
    const bytes = new ResponseBytes(limits.maxResponseBytes);
    /** tRPC writes all answers at once, when all are there: each is written here once before, to know its size. */
    const measured = (output: unknown) => {
      if (isSubscription || fits(output)) return output;
      throw (isBatch ? batchTooLarge : answerTooLarge)(limits.maxResponseBytes);
    };
    const fits = (output: unknown) => {
      if (bytes.isFull) return false;
      try {
        const data: unknown = router._def._config.transformer.output.serialize(output);
        return bytes.add(boundedJson(data, limits.maxResponseBytes) ?? '');
      } catch (cause) {
        // What cannot be written fails again when tRPC writes it, in its own words.
        bytes.isFull = cause instanceof LimitError;
        return !bytes.isFull;
      }
    };
    const cut = () => {
      if (answer?.body instanceof EventBody) answer.body.cut();
    };
    try {
      const url = targetUrl(request);
      refuseLongQuery(request.query, limits.maxQueryParameters);
      const response = await resolveResponse({
        ...handlerOptions,
        responseMeta: withReply(responseMeta, reply),
        router: calledThrough(router, (procedure, asked) => {
          if (!isLines)
            return calls.procedure(procedure, asked, request, contextScope.deadline).then(measured);
          const scope = new CallScope(request, asked.signal);
          return calls.line(
            asked.path,
            scope,
            () => procedure({ ...asked, signal: scope.signal }),
            (error) => failures.add(error, asked.path),
            cut,
          );
        }),
        req: fetchRequest(request, url, limits.maxBodyBytes),
        path: procedurePath(url, basePath),
        error: null,
        createContext: async ({ info }) => {
          isBatch = info.isBatchCall;
          isSubscription = info.type === 'subscription';
          isLines = info.accept === 'application/jsonl';
          const paths = info.calls.map(({ path }) => path);
          operation = paths.join(',');
          const context = options.createContext({
            request,
            identity,
            reply,
            requestId,
            idempotencyKey: callKey(request, info, paths),
            info,
          });
          return calls.waitPromise(contextScope, Promise.resolve(context));
        },
        onError(failure) {
          failures.add(failure.error, failure.path);
          // tRPC looks after what an asynchronous one rejects with.
          return onError?.({ ...failure, req: request });
        },
      });
      // Nobody is there to be told, and nothing failed but the connection.
      if (request.isAborted) return new Answer(499, []);
      // By what was asked, not by the Content-Type alone: `responseMeta` may have set another.
      const isEvents = isSubscription && response.status === 200;
      const watch = (onRevoked: () => void) => options.watch(token, request, onRevoked);
      answer = await toAnswer(response, isEvents, watch);
      answer.operation = operation;
      return failures.follow(answer);
    } catch (cause) {
      return broken(request, cause);
    }
  }
}

const allow: Header = ['allow', 'GET, POST, HEAD, OPTIONS'];

/** Those that tRPC is asked about: they are case-sensitive (RFC 9110 §9.1). */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** An answer, and which procedures it is of. */
function counted(answer: Answer, procedures: readonly string[], calls: number): Answer {
  answer.procedures = procedures;
  answer.calls = calls;
  return answer;
}

/** It is asked for several times. */
const targets = new WeakMap<HttpRequest, URL>();

/**
 * The target as a URL, as tRPC's adapters make it: the host it names is nobody's choice but the client's, and has no say
 * in which procedure is called.
 * @throws {TRPCError} `BAD_REQUEST` where host and target make no URL
 */
function targetUrl(request: HttpRequest): URL {
  const known = targets.get(request);
  if (known !== undefined) return known;
  const origin = `http://${request.header('host') ?? 'localhost'}`;
  const target = `${request.path}${request.query === '' ? '' : `?${request.query}`}`;
  const url = URL.parse(target, origin);
  // A Host of the form user@name: a `Request` of it throws, which the adapters answer with 500.
  if (url !== null && url.username === '' && url.password === '') {
    targets.set(request, url);
    return url;
  }
  throw new TRPCError({ code: 'BAD_REQUEST', message: 'Invalid URL' });
}

// As tRPC's adapters find the procedure's path: without the slashes around it.
const trimSlashes = (path: string) => path.replace(/^\/|\/$/g, '');
const procedurePath = ({ pathname }: URL, basePath: string) =>
  trimSlashes(trimSlashes(pathname).slice(trimSlashes(basePath).length));

/** The procedures that a target names: several, joined by commas, in a batch. None where it is no URL. */
function procedurePaths(request: HttpRequest, basePath: string, separator: string): readonly string[] {
  try {
    const url = targetUrl(request);
    const decoded = (percentDecode(procedurePath(url, basePath)) ?? '').replaceAll(separator, '.');
    return url.searchParams.get('batch') === '1' ? decoded.split(',') : [decoded];
  } catch {
    return [];
  }
}

async function toAnswer(
  response: Response,
  isEvents: boolean,
  watch: (onRevoked: () => void) => () => void,
): Promise<Answer> {
  const headers: [string, string][] = [];
  let format: 'sse' | 'jsonl' | undefined = isEvents ? 'sse' : undefined;
  for (const [name, value] of response.headers) {
    // The host frames the body: a stream is chunked, anything else has a length.
    if (name === 'transfer-encoding') format ??= 'jsonl';
    else if (name !== 'connection') headers.push([name, value]);
  }
  if (response.body === null) return new Answer(response.status, headers);
  const body = format ? new EventBody(response.body, format, watch) : await response.text();
  return new Answer(response.status, headers, body);
}
