import type { AnyTRPCRouter } from '@trpc/server';
import type { Answer } from '../../http/answer.ts';
import type { Calls } from '../../policies/calls.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { Limits } from '../../policies/limits.ts';
import type { RpcOptions } from './options.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import { tooLarge } from './fetchRequest.ts';
import type { PlainCall } from './plainCall.ts';
import { badInput, PlainInputs } from './plainInputs.ts';

/** A request that can be answered without tRPC's own way. */
export interface PlainRequest<Options> {
  /** The procedures that it names, all of which exist. */
  readonly paths: readonly string[];
  /** Answers as `resolveResponse` does, to the byte. It throws, or rejects, where that rejects. */
  answer(options: Options): Answer | Promise<Answer>;
}

/** Reads a request; `undefined`: it has anything unusual, or is for another reader. */
export type PlainReader<Options> = (request: HttpRequest) => PlainRequest<Options> | undefined;

export interface PlainReaderOptions<Router extends AnyTRPCRouter> {
  readonly router: Router;
  readonly basePath: string;
  readonly rpc: RpcOptions<Router>;
  readonly limits: Limits;
  readonly calls: Calls;
  readonly definitions: readonly ProcedureDefinition[];
}

/** Whether requests for a router can be read without tRPC. */
export function isPlainRouter<Router extends AnyTRPCRouter>({
  router,
  basePath,
  rpc: { responseMeta },
}: PlainReaderOptions<Router>): boolean {
  if (responseMeta || router._def._config.pathSeparator !== '.') return false;
  // What a URL makes of the base path must be what is there.
  return new URL(basePath === '' ? '/' : basePath, 'http://localhost').pathname === (basePath || '/');
}

/** Finds the procedures that a call names; `undefined` where one is not there, or not to be called by the method. */
export function procedureFinder(definitions: readonly ProcedureDefinition[]) {
  const byPath = new Map(definitions.map((definition) => [definition.path, definition]));
  return ({ paths }: PlainCall, method: string): readonly ProcedureDefinition[] | undefined => {
    const type = method === 'GET' ? 'query' : 'mutation';
    const found: ProcedureDefinition[] = [];
    for (const path of paths) {
      const definition = byPath.get(path);
      if (definition?.type !== type) return undefined;
      found.push(definition);
    }
    return found;
  };
}

/** The inputs of a call, once its body is here: at once where it has none, or all of it has come. */
export function readInputs(
  request: HttpRequest,
  call: PlainCall,
  transformer: { deserialize(value: unknown): unknown },
  maxBodyBytes: number,
): PlainInputs | Promise<PlainInputs> {
  const inputs = new PlainInputs(call, transformer);
  if (request.method === 'GET') return inputs;
  const arrived = request.bodyNow?.(maxBodyBytes);
  if (arrived) {
    inputs.text = utf8.decode(arrived);
    return inputs;
  }
  return request.body(maxBodyBytes).then(
    (bytes) => {
      inputs.text = utf8.decode(bytes);
      return inputs;
    },
    (cause: unknown) => {
      // For the procedures that ask for an input.
      inputs.failure = cause instanceof BodyTooLargeError ? tooLarge() : badInput(cause);
      return inputs;
    },
  );
}

const utf8 = new TextDecoder();
