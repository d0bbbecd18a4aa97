import { TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { ResponseDraft } from '../../http/responseDraft.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Header } from '../../http/response.ts';
import type { Calls } from '../../policies/calls.ts';
import type { CredentialWatch } from '../../policies/credentialWatch.ts';
import { idempotencyKey } from '../../policies/idempotencyKey.ts';
import type { Limits } from '../../policies/limits.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import type { ContextOptions } from '../../procedures/contextOptions.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import type { Protocol } from '../protocol.ts';
import { EventsResponse } from './eventsResponse.ts';
import { JsonInputs, UploadInput } from './inputs.ts';
import { JsonResponse } from './jsonResponse.ts';
import { LinesResponse } from './linesResponse.ts';
import type { RpcOptions } from './options.ts';
import type { TrpcErrorResponse } from './errorResponse.ts';
import { linesType, TrpcRequest, type RequestReader } from './request.ts';
import type { RequestCalls } from './requestCalls.ts';
import { jsonType } from './responseHead.ts';
import { eventSettings, lineSettings, type TrpcSettings } from './settings.ts';

export interface TrpcProtocolOptions<Router extends AnyTRPCRouter, Identity> {
  readonly router: Router;
  /** Without a slash at its end. */
  readonly basePath: string;
  readonly rpc: RpcOptions<Router> & { readonly maxBatchSize: number };
  readonly limits: Limits;
  readonly calls: Calls;
  readonly watch: CredentialWatch;
  readonly definitions: readonly Procedure[];
  /** The procedures that need no credential. */
  readonly publicProcedures: ReadonlySet<string>;
  /** The procedures that take an `Idempotency-Key`. */
  readonly idempotentProcedures: ReadonlySet<string>;
  readonly errorResponse: TrpcErrorResponse;
  readonly createContext: (options: ContextOptions<Identity>) => unknown;
}

/**
 * tRPC over HTTP: what tRPC's standalone adapter answers, the gateway answers. Three things differ: the credential is
 * checked before anything else, `OPTIONS` is a preflight, and there are limits.
 */
export class TrpcProtocol<Router extends AnyTRPCRouter, Identity> implements Protocol<Identity, TrpcRequest> {
  readonly #reader: RequestReader;
  readonly #settings: TrpcSettings;

  constructor(options: TrpcProtocolOptions<Router, Identity>) {
    const { router, rpc, limits, calls, createContext, idempotentProcedures } = options;
    const config = router._def._config;
    const { basePath, definitions, publicProcedures } = options;
    this.#reader = {
      basePath,
      isPlainBasePath: new URL(`http://localhost${basePath}`).pathname === (basePath || '/'),
      procedures: new Map(definitions.map((definition) => [definition.path, definition])),
      publicProcedures,
      pathSeparator: config.pathSeparator,
      allowBatching: rpc.allowBatching ?? true,
      maxBatchSize: rpc.maxBatchSize,
      maxQueryParameters: limits.maxQueryParameters,
    };
    this.#settings = {
      config,
      calls,
      limits,
      options: rpc as RpcOptions<AnyTRPCRouter>,
      lines: lineSettings(config, limits.maxResponseBytes),
      events: eventSettings(config, limits.maxResponseBytes),
      errorResponse: options.errorResponse,
      watch: ({ request, token }, onRevoked) => options.watch(token, request, onRevoked),
      createContext: (scope, request, info) =>
        createContext({
          request: scope.request,
          identity: scope.identity as Identity | undefined,
          reply: scope.reply,
          requestId: scope.requestId,
          idempotencyKey: keyOf(request, idempotentProcedures),
          info,
        }),
    };
  }

  target(request: HttpRequest): TrpcRequest {
    return new TrpcRequest(request, this.#reader);
  }

  options(): ResponseDraft {
    return new ResponseDraft(204, [allow]);
  }

  reject(error: TRPCError, scope: RequestScope<Identity>): ResponseDraft {
    return this.#settings.errorResponse(error, scope);
  }

  respond(scope: RequestScope<Identity>, request: TrpcRequest): ResponseDraft | Promise<ResponseDraft> {
    const { http, media, phase, paths, procedures } = request;
    scope.calls = paths.length;
    // Clients choose the other names: they must not become labels of metrics.
    scope.procedures =
      procedures.length > 0 && !procedures.includes(undefined)
        ? paths
        : paths.filter((path) => this.#reader.procedures.has(path));
    if (!methods.has(http.method)) {
      const message = `This path takes ${allow[1]}.`;
      return this.#settings.errorResponse(new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message }), scope, [
        jsonType,
        allow,
      ]);
    }
    if (http.method === 'HEAD' && phase !== 'url') return new ResponseDraft(204, []);
    const { config, limits } = this.#settings;
    if (media !== 'json') {
      return new JsonResponse(this.#settings, scope, request, new UploadInput(request, limits)).respond();
    }
    const inputs = new JsonInputs(request, config.transformer.input, limits);
    const response = this.#responseTo(scope, request, inputs);
    const receiving = request.error ? undefined : inputs.receive();
    return receiving ? receiving.then(() => response.respond()) : response.respond();
  }

  #responseTo(scope: RequestScope, request: TrpcRequest, inputs: JsonInputs): RequestCalls {
    if (request.accept === linesType) return new LinesResponse(this.#settings, scope, request, inputs);
    if (!request.isBatch && request.type === 'subscription') {
      return new EventsResponse(this.#settings, scope, request, inputs);
    }
    return new JsonResponse(this.#settings, scope, request, inputs);
  }
}

const allow: Header = ['allow', 'GET, POST, HEAD, OPTIONS'];

/** The methods that tRPC answers. They are case-sensitive (RFC 9110 §9.1). */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** @throws {TRPCError} `BAD_REQUEST` for a batch: its calls would share one key */
function keyOf({ http, isBatch, paths }: TrpcRequest, procedures: ReadonlySet<string>): string | undefined {
  if (procedures.size === 0 || !paths.some((path) => procedures.has(path))) return undefined;
  const key = idempotencyKey(http);
  if (key === undefined || !isBatch) return key;
  throw new TRPCError({
    code: 'BAD_REQUEST',
    message:
      'Idempotency-Key: a batch cannot have one; send the call on its own (httpLink, not httpBatchLink).',
  });
}
