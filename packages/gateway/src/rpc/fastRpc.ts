// Hot path: tRPC's `resolveResponse` makes a Request, a Response, two Headers and a dozen promises for every call, which
// is 10 to 20 times the call (`npm run bench`, cases query and batch10).
import type { AnyTRPCRouter } from '@trpc/server';
import type { Answer } from '../answer.ts';
import type { Calls } from '../call/calls.ts';
import { BodyTooLargeError, type GatewayRequest } from '../http.ts';
import type { Limits } from '../limits.ts';
import type { RpcOptions } from '../options.ts';
import type { ProcedureDefinition } from '../procedures.ts';
import { tooLarge } from './fetchRequest.ts';
import { PlainAnswer, type PlainOptions, type PlainRouter } from './plainAnswer.ts';
import { plainCall, type PlainCall } from './plainCall.ts';
import { badInput, PlainInputs } from './plainInputs.ts';

/** A request for calls that can be answered without tRPC's own way. */
export interface PlainRequest {
  /** The procedures that it names, all of which exist. */
  readonly paths: readonly string[];
  /** Answers as `resolveResponse` does, to the byte. It throws, or rejects, where that rejects. */
  answer(options: PlainOptions): Answer | Promise<Answer>;
}

/** Reads a request; `undefined`: it is not plain. */
export type FastRpc = (request: GatewayRequest) => PlainRequest | undefined;

export interface FastRpcOptions<Router extends AnyTRPCRouter> {
  readonly router: Router;
  readonly basePath: string;
  readonly rpc: RpcOptions<Router>;
  readonly limits: Limits;
  readonly calls: Calls;
  readonly definitions: readonly ProcedureDefinition[];
}

/** @returns `undefined` where none of the router's calls is plain */
export function createFastRpc<Router extends AnyTRPCRouter>({
  router,
  basePath,
  rpc,
  limits,
  calls,
  definitions,
}: FastRpcOptions<Router>): FastRpc | undefined {
  const config = router._def._config;
  const { allowBatching = true, maxBatchSize = Infinity, responseMeta, onError } = rpc;
  const shared: PlainRouter<Router> = { config, calls, onError };
  // What a URL makes of the base path must be what is there.
  const isPlainBase =
    new URL(basePath === '' ? '/' : basePath, 'http://localhost').pathname === (basePath || '/');
  if (responseMeta || config.pathSeparator !== '.' || !isPlainBase) return undefined;
  const byPath = new Map(definitions.map((definition) => [definition.path, definition]));

  /** The procedures that are called; `undefined` where one is not there, or not to be called this way. */
  function called({ paths, isBatch }: PlainCall, method: string): readonly ProcedureDefinition[] | undefined {
    if (isBatch && (!allowBatching || paths.length > maxBatchSize)) return undefined;
    const type = method === 'GET' ? 'query' : 'mutation';
    const found: ProcedureDefinition[] = [];
    for (const path of paths) {
      const definition = byPath.get(path);
      if (definition?.type !== type) return undefined;
      found.push(definition);
    }
    return found;
  }

  return (request) => {
    const plain = plainCall(request, basePath);
    const procedures = plain && called(plain, request.method);
    if (plain === undefined || procedures === undefined) return undefined;
    return { paths: plain.paths, answer: (asked) => begin(request, asked, plain, procedures) };
  };

  function begin(
    request: GatewayRequest,
    asked: PlainOptions,
    plain: PlainCall,
    procedures: readonly ProcedureDefinition[],
  ): Answer | Promise<Answer> {
    const inputs = new PlainInputs(plain, config.transformer.input);
    const answer = () => new PlainAnswer(shared, request, asked, plain.isBatch, procedures, inputs).make();
    if (request.method === 'GET') return answer();
    const arrived = request.bodyNow?.(limits.maxBodyBytes);
    if (arrived) {
      inputs.text = utf8.decode(arrived);
      return answer();
    }
    return request.body(limits.maxBodyBytes).then(
      (bytes) => {
        inputs.text = utf8.decode(bytes);
        return answer();
      },
      (cause: unknown) => {
        // For the procedures that ask for an input.
        inputs.failure = cause instanceof BodyTooLargeError ? tooLarge() : badInput(cause);
        return answer();
      },
    );
  }
}

const utf8 = new TextDecoder();
