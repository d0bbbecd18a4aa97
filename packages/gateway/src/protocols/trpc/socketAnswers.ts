// Hot path: through tRPC's connection handler, with its promises, AbortControllers and copies of each call, a core does
// 26,000 calls a second; here 173,000, of 277,000 that the bare server does (`npm run bench`, case socket).
import { performance } from 'node:perf_hooks';
import { getErrorShape, getTRPCErrorFromUnknown, TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { isObservable } from '@trpc/server/observable';
import type { Calls } from '../../policies/calls.ts';
import { Failed } from '../../procedures/failed.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import { boundedJson } from '../../policies/responseBytes.ts';
import type { HttpRequest } from '../../http/request.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { RpcOptions } from './options.ts';
import type { SocketCalls } from './socketCalls.ts';
import type { SocketCall } from './socketMessage.ts';
import { SocketScope } from './socketScope.ts';

export interface SocketAnswersOptions<Router extends AnyTRPCRouter> {
  readonly config: Router['_def']['_config'];
  /** What opened the socket. */
  readonly request: HttpRequest;
  readonly calls: Calls;
  /** The calls of the socket. */
  readonly running: SocketCalls;
  readonly maxJsonDepth: number;
  readonly maxResponseBytes: number;
  readonly onError: RpcOptions<Router>['onError'];
  readonly isOpen: () => boolean;
  readonly send: (text: string) => void;
}

/** Runs the plain calls of one socket, and answers each as tRPC's connection handler (@trpc/server 11.25) does, to the byte. */
export class SocketAnswers<Router extends AnyTRPCRouter> {
  readonly #options: SocketAnswersOptions<Router>;
  readonly #context: unknown;

  constructor(options: SocketAnswersOptions<Router>, context: unknown) {
    this.#options = options;
    this.#context = context;
  }

  /** Runs the calls of a message, and answers each: one alone at once, where nothing in it is waited for. It never throws. */
  answer(calls: readonly SocketCall[]): void {
    const isInTurns = calls.length > 1;
    for (const call of calls) this.#begin(call, isInTurns);
  }

  #begin(call: SocketCall, isInTurns: boolean): void {
    const { calls, request, running } = this.#options;
    const { path } = call.definition;
    try {
      running.admit(path, false);
    } catch (cause) {
      this.#refuse(call, getTRPCErrorFromUnknown(cause));
      return;
    }
    const start = performance.now();
    const scope = new SocketScope(request);
    try {
      const output = calls.run(path, scope, () => this.#call(call, scope, isInTurns));
      if (output instanceof Promise) this.#wait(call, start, scope, output);
      else this.#succeed(call, start, output);
    } catch (cause) {
      this.#fail(call, start, cause);
    }
  }

  #call(call: SocketCall, { signal }: SocketScope, isInTurns: boolean): unknown {
    const { batchIndex, definition } = call;
    const getRawInput = () => this.#inputOf(call);
    // Of a batch that call is answered first whose chain takes the fewest turns. Still 3.5 times as fast as tRPC's handler.
    return isInTurns
      ? definition.callInTurns(this.#context, async () => getRawInput(), signal, batchIndex)
      : definition.call(this.#context, getRawInput, signal, batchIndex);
  }

  #wait(call: SocketCall, start: number, scope: SocketScope, output: Promise<unknown>): void {
    const { running } = this.#options;
    running.add(scope);
    void output
      .then((data) => {
        running.delete(scope);
        this.#succeed(call, start, data);
      })
      .catch(async (cause: unknown) => {
        // To tRPC's handler a failure takes two turns more than an answer: of a batch others may be answered meanwhile.
        await Promise.resolve();
        running.delete(scope);
        this.#fail(call, start, cause);
      });
  }

  #inputOf({ input }: SocketCall): unknown {
    const { maxJsonDepth } = this.#options;
    if (isDeeper(input, maxJsonDepth)) throw tooDeep(maxJsonDepth);
    return input;
  }

  /** @throws what its output cannot be sent for */
  #succeed(call: SocketCall, start: number, data: unknown): void {
    if (data instanceof Failed) return this.#fail(call, start, data.error);
    const { id, jsonrpc, definition } = call;
    const { config, isOpen, maxResponseBytes, running, send } = this.#options;
    if (isAsyncIterable(data) || isObservable(data)) throw streamLike(definition.type);
    let text: string | undefined;
    if (isOpen()) {
      // Not the data alone, with text around it: a `toJSON` is told the name of its member.
      const result = { type: 'data', data: config.transformer.output.serialize(data) as unknown };
      text = boundedJson({ id, jsonrpc, result }, maxResponseBytes);
    }
    running.tell(definition.path, false, start);
    if (text !== undefined) send(text);
  }

  #fail(call: SocketCall, start: number, cause: unknown): void {
    const error = getTRPCErrorFromUnknown(cause);
    this.#options.running.tell(call.definition.path, false, start, error);
    this.#refuse(call, error);
  }

  /** Answers a call that has failed, and is told of. */
  #refuse(call: SocketCall, error: TRPCError): void {
    this.#tell(call, error);
    try {
      this.#sendError(call, this.#shapeOf(call, error));
    } catch (cause) {
      // A formatter or a transformer has failed: the client is answered all the same.
      this.#tell(call, getTRPCErrorFromUnknown(cause));
      this.#sendFallback(call);
    }
  }

  #shapeOf({ definition: { path, type }, input }: SocketCall, error: TRPCError): unknown {
    const ctx = this.#context as never;
    return getErrorShape({ config: this.#options.config, ctx, error, type, path, input });
  }

  #sendError({ id, jsonrpc }: SocketCall, shape: unknown): void {
    const { config, isOpen, send } = this.#options;
    if (!isOpen()) return;
    send(JSON.stringify({ id, jsonrpc, error: config.transformer.output.serialize(shape) as unknown }));
  }

  #sendFallback(call: SocketCall): void {
    try {
      this.#sendError(call, fallbackShape);
    } catch (cause) {
      this.#tell(call, getTRPCErrorFromUnknown(cause));
    }
  }

  #tell({ definition: { path, type }, input }: SocketCall, error: TRPCError): void {
    const { onError, request: req } = this.#options;
    if (onError === undefined) return;
    const ctx = this.#context as never;
    // It may be asynchronous, whatever its type: how it fails is nobody's concern here.
    (async () => onError({ error, path, type, ctx, req, input }))().catch(() => {});
  }
}

/** What tRPC's handler says where an error cannot be put into words. */
const fallbackShape = {
  code: -32_603,
  message: 'Internal server error',
  data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 },
};

const streamLike = (type: string) =>
  new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: `Cannot return an async iterable or observable from a ${type} procedure with WebSockets`,
  });
