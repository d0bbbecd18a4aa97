import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { after } from '../after.ts';
import type { Answer } from '../answer.ts';
import { BodyTooLargeError, type GatewayRequest, type Header } from '../http.ts';
import type { ProcedureDefinition } from '../procedures.ts';
import { tooLarge } from './fetchRequest.ts';
import type { FastRpcOptions } from './fastRpc.ts';
import { LineAnswer, type LineOptions, type LineRouter } from './lineAnswer.ts';
import { plainCall, type PlainCall } from './plainCall.ts';
import { badInput, PlainInputs } from './plainInputs.ts';

/** A batch that is to be answered by JSON lines, and can be without tRPC's own way. */
export interface LineRequest {
  /** The procedures that it names, all of which exist. */
  readonly paths: readonly string[];
  /** Answers as `resolveResponse` does, to the byte. It throws, or rejects, where that rejects. */
  answer(options: LineOptions): Answer | Promise<Answer>;
}

/** Reads a request; `undefined`: it is no such batch, or has anything unusual. */
export type FastLines = (request: GatewayRequest) => LineRequest | undefined;

/** @returns `undefined` where none of the router's batches can be answered so */
export function createFastLines<Router extends AnyTRPCRouter>({
  router,
  basePath,
  rpc,
  limits,
  calls,
  definitions,
}: FastRpcOptions<Router>): FastLines | undefined {
  const config = router._def._config;
  const { allowBatching = true, maxBatchSize = Infinity, responseMeta, onError } = rpc;
  if (!allowBatching || responseMeta || config.pathSeparator !== '.' || !isItself(basePath)) return undefined;
  const { contentType = 'application/json', pingMs } = config.jsonl ?? {};
  const headers: readonly Header[] = [
    ['content-type', contentType],
    ['vary', 'trpc-accept, accept'],
  ];
  const { output } = config.transformer;
  const shared: LineRouter<Router> = {
    config,
    calls,
    onError,
    headers,
    pingMs: pingMs || undefined,
    serialize: output === none ? undefined : (chunk) => output.serialize(chunk),
  };
  const byPath = new Map(definitions.map((definition) => [definition.path, definition]));

  /** The procedures that are called; `undefined` where one is not there, or not to be called this way. */
  function called({ paths, isBatch }: PlainCall, method: string): readonly ProcedureDefinition[] | undefined {
    if (!isBatch || paths.length > maxBatchSize) return undefined;
    const type = method === 'GET' ? 'query' : 'mutation';
    const found: ProcedureDefinition[] = [];
    for (const path of paths) {
      const procedure = byPath.get(path);
      if (procedure?.type !== type) return undefined;
      found.push(procedure);
    }
    return found;
  }

  function begin(
    request: GatewayRequest,
    asked: LineOptions,
    plain: PlainCall,
    procedures: readonly ProcedureDefinition[],
  ): Answer | Promise<Answer> {
    const inputs = new PlainInputs(plain, config.transformer.input);
    const answer = () => new LineAnswer(shared, request, asked, procedures, inputs).make();
    if (request.method === 'GET') return answer();
    return after(
      request.bodyNow?.(limits.maxBodyBytes) ??
        request.body(limits.maxBodyBytes).then(
          (bytes) => bytes,
          (cause: unknown) => {
            // For the procedures that ask for an input.
            inputs.failure = cause instanceof BodyTooLargeError ? tooLarge() : badInput(cause);
            return undefined;
          },
        ),
      (bytes) => {
        if (bytes) inputs.text = utf8.decode(bytes);
        return answer();
      },
    );
  }

  return (request) => {
    if (request.header('trpc-accept') !== 'application/jsonl') return undefined;
    let lines = 0;
    // Of several, joined, none asks for JSON lines.
    const plain = plainCall(request, basePath, (name) => name === 'trpc-accept' && ++lines > 1);
    const procedures = plain && called(plain, request.method);
    if (plain === undefined || procedures === undefined) return undefined;
    return { paths: plain.paths, answer: (asked) => begin(request, asked, plain, procedures) };
  };
}

/** What a URL makes of the base path must be what is there. */
export const isItself = (basePath: string) =>
  new URL(basePath === '' ? '/' : basePath, 'http://localhost').pathname === (basePath || '/');

/** What a router has for a transformer where it names none. */
const none = initTRPC.create()._config.transformer.output;

const utf8 = new TextDecoder();
