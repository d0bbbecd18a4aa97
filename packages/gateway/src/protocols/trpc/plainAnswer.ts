// Hot path: one object for a request, and no functions made for it.
import {
  getErrorShape,
  getTRPCErrorFromUnknown,
  transformTRPCResponse,
  TRPCError,
  type AnyTRPCRouter,
} from '@trpc/server';
import { getHTTPStatusCode, type TRPCRequestInfo } from '@trpc/server/http';
import { isThenable } from '../../http/after.ts';
import { Answer } from '../../http/answer.ts';
import type { Calls } from '../../policies/calls.ts';
import { Failed } from '../../procedures/failed.ts';
import { CallScope } from '../../policies/callScope.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { batchTooLarge, boundedJson, ResponseBytes } from '../../policies/responseBytes.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Header } from '../../http/response.ts';
import { isObject } from '../../http/isObject.ts';
import type { RpcOptions } from './options.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import type { Reply } from '../../procedures/reply.ts';
import { rpcHeaders, rpcStatus } from './responseMeta.ts';
import { CallFailures } from './callFailures.ts';
import { PlainInfo } from './plainInfo.ts';
import type { PlainInputs } from './plainInputs.ts';

/** What an answer needs of the wire. */
export interface PlainOptions {
  readonly createContext: (info: TRPCRequestInfo) => unknown;
  /** What the procedures say of the answer. */
  readonly reply: Reply;
  /** The target, as tRPC has it. */
  readonly url: () => URL;
}

/** What all plain answers of a router share. */
export interface PlainRouter<Router extends AnyTRPCRouter> {
  readonly config: Router['_def']['_config'];
  readonly calls: Calls;
  readonly onError: RpcOptions<Router>['onError'];
  readonly maxResponseBytes: number;
}

/** What became of one call. */
interface Outcome {
  readonly error: TRPCError | undefined;
  readonly data: unknown;
}

/** Runs the calls of a request, and answers as `resolveResponse` (@trpc/server 11.25) does, to the byte. */
export class PlainAnswer<Router extends AnyTRPCRouter> {
  readonly #router: PlainRouter<Router>;
  readonly #request: HttpRequest;
  readonly #options: PlainOptions;
  readonly #isBatch: boolean;
  readonly #procedures: readonly ProcedureDefinition[];
  readonly #inputs: PlainInputs;
  readonly #scope: CallScope;
  readonly #type: ProcedureDefinition['type'] | 'unknown';
  #context: unknown = undefined;
  #contextFailure: TRPCError | undefined = undefined;
  /** Made for the first failure: most requests have none. */
  #failures: CallFailures | undefined = undefined;

  constructor(
    router: PlainRouter<Router>,
    request: HttpRequest,
    options: PlainOptions,
    isBatch: boolean,
    procedures: readonly ProcedureDefinition[],
    inputs: PlainInputs,
  ) {
    this.#router = router;
    this.#request = request;
    this.#options = options;
    this.#isBatch = isBatch;
    this.#procedures = procedures;
    this.#inputs = inputs;
    this.#scope = new CallScope(request);
    this.#type = procedures[0]?.type ?? 'unknown';
  }

  /** It throws, or rejects, where `resolveResponse` rejects. */
  make(): Answer | Promise<Answer> {
    let made: unknown;
    try {
      const { createContext, url } = this.#options;
      made = createContext(new PlainInfo(this.#request, url, this.#isBatch, this.#procedures, this.#inputs));
    } catch (cause) {
      return this.#refuse(cause);
    }
    if (isThenable(made)) {
      return this.#router.calls.waitPromise(this.#scope, Promise.resolve(made)).then(
        (context) => {
          this.#context = context;
          return this.#run();
        },
        (cause: unknown) => this.#refuse(cause),
      );
    }
    this.#context = made;
    return this.#run();
  }

  #refuse(cause: unknown): Answer | Promise<Answer> {
    this.#contextFailure = getTRPCErrorFromUnknown(cause);
    return this.#run();
  }

  #run(): Answer | Promise<Answer> {
    const outcomes: (Outcome | Promise<Outcome>)[] = [];
    let isPending = false;
    for (let index = 0; index < this.#procedures.length; index += 1) {
      const outcome = this.#callOrReject(index);
      if (outcome instanceof Promise) isPending = true;
      outcomes.push(outcome);
    }
    return isPending
      ? Promise.all(outcomes as Promise<Outcome>[]).then(
          (all) => this.#finish(all),
          (cause: unknown) => this.#caught(cause),
        )
      : this.#finish(outcomes as Outcome[]);
  }

  /** An `onError` may throw. Those that wait by then are waited for all the same: nobody would hear of their failures. */
  #callOrReject(index: number): Outcome | Promise<Outcome> {
    try {
      return this.#call(index);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  #call(index: number): Outcome | Promise<Outcome> {
    if (this.#contextFailure) return this.#failed(index, this.#contextFailure);
    const definition = this.#procedures[index] as ProcedureDefinition;
    let data: unknown;
    try {
      data = this.#router.calls.begin(definition.path, this.#scope, () =>
        definition.call(this.#context, () => this.#inputs.read(index), this.#scope.signal, index),
      );
    } catch (cause) {
      return this.#failed(index, cause);
    }
    return data instanceof Promise
      ? this.#router.calls.waitFor(
          this.#scope,
          data,
          (found) => this.#outcome(index, found),
          (cause) => this.#failed(index, cause),
        )
      : this.#outcome(index, data);
  }

  #outcome(index: number, data: unknown): Outcome {
    return data instanceof Failed ? this.#failed(index, data.error) : { error: undefined, data };
  }

  #failed(index: number, cause: unknown): Outcome {
    const error = getTRPCErrorFromUnknown(cause);
    this.#tell(error, this.#inputs.paths[index], this.#inputs.known(index));
    return { error, data: undefined };
  }

  #tell(error: TRPCError, path: string | undefined, input: unknown): void {
    (this.#failures ??= new CallFailures()).add(error, path);
    const ctx = this.#context as never;
    void settled(this.#router.onError?.({ error, path, input, ctx, type: this.#type, req: this.#request }));
  }

  #finish(outcomes: readonly Outcome[]): Answer {
    // Nobody is there to be told, and nothing failed but the connection.
    if (this.#request.isAborted) return new Answer(499, []);
    try {
      const [first] = outcomes;
      return this.#isBatch || first === undefined ? this.#batch(outcomes) : this.#single(first);
    } catch (cause) {
      return this.#caught(cause);
    }
  }

  #single({ error, data }: Outcome): Answer {
    if (error) return this.#answerError(error, this.#inputs.paths[0] ?? '', this.#inputs.known(0));
    if (isDataStream(data)) throw streamLike();
    try {
      return this.#answer(rpcStatus(this.#options.reply) ?? 200, this.#success(data));
    } catch (cause) {
      if (!(cause instanceof LimitError)) throw cause;
      return this.#single(this.#failed(0, cause));
    }
  }

  #batch(outcomes: readonly Outcome[]): Answer {
    const { maxResponseBytes } = this.#router;
    const bytes = new ResponseBytes(maxResponseBytes);
    let text = '[';
    let common: number | undefined;
    for (let index = 0; index < outcomes.length; index += 1) {
      const { error: failed, data } = outcomes[index] as Outcome;
      let error = failed ?? (isDataStream(data) ? streamLike() : undefined);
      let status = 200;
      let part = error || bytes.isFull ? undefined : this.#successOf(data, bytes);
      if (part === undefined) {
        error ??= this.#failed(index, batchTooLarge(maxResponseBytes)).error as TRPCError;
        const item = this.#shapeOf(error, this.#inputs.paths[index], this.#inputs.known(index));
        status = getHTTPStatusCode(item, [error] as never);
        part = JSON.stringify(transformTRPCResponse(this.#router.config, item as never));
      }
      text += index === 0 ? part : `,${part}`;
      common = common === undefined || common === status ? status : 207;
    }
    return this.#answer(common ?? 200, `${text}]`);
  }

  /** A failure outside of any call: all of the answer. */
  #caught(cause: unknown): Answer {
    const error = getTRPCErrorFromUnknown(cause);
    this.#tell(error, undefined, undefined);
    return this.#answerError(error, undefined, undefined);
  }

  #answerError(error: TRPCError, path: string | undefined, input: unknown): Answer {
    const item = this.#shapeOf(error, path, input);
    const body = JSON.stringify(transformTRPCResponse(this.#router.config, item as never));
    return this.#answer(getHTTPStatusCode(item, [error] as never), body);
  }

  #shapeOf(error: TRPCError, path: string | undefined, input: unknown) {
    const { config } = this.#router;
    const ctx = this.#context as never;
    return { error: getErrorShape({ config, ctx, error, input, path, type: this.#type }) };
  }

  /** The answer of one of a batch's calls; `undefined` where it does not fit. */
  #successOf(output: unknown, bytes: ResponseBytes): string | undefined {
    try {
      const text = this.#success(output);
      return bytes.add(text) ? text : undefined;
    } catch (cause) {
      if (!(cause instanceof LimitError)) throw cause;
      bytes.isFull = true;
      return undefined;
    }
  }

  /** @throws {LimitError} `response-bytes` */
  #success(output: unknown): string {
    const { maxResponseBytes } = this.#router;
    const data: unknown = this.#router.config.transformer.output.serialize(output);
    // Text around the data: the envelope as an object takes 0.2 µs more. But a `toJSON` is told the name of its member.
    const hasName = typeof (data as { readonly toJSON?: unknown } | null | undefined)?.toJSON === 'function';
    const text = hasName ? undefined : boundedJson(data, maxResponseBytes);
    return text === undefined
      ? (boundedJson({ result: { data } }, maxResponseBytes) as string)
      : `{"result":{"data":${text}}}`;
  }

  #answer(status: number, body: string): Answer {
    const answer = new Answer(status, rpcHeaders(this.#options.reply).slice(), body, sharedHeaders);
    const { paths } = this.#inputs;
    answer.operation = paths.length === 1 ? paths[0] : paths.join(',');
    return this.#failures === undefined ? answer : this.#failures.follow(answer);
  }
}

const sharedHeaders: readonly Header[] = [
  ['content-type', 'application/json'],
  ['vary', 'trpc-accept, accept'],
];

/** Waits for what an `onError` does, which may be asynchronous whatever its type: if it fails, that must not end the process. */
export async function settled(told: unknown): Promise<void> {
  try {
    await told;
  } catch {
    // It is the one that is told of errors.
  }
}

const streamLike = () =>
  new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Cannot use stream-like response in non-streaming request - use httpBatchStreamLink',
  });

/** Whether data is, or holds, what comes later: as tRPC looks for it, one level deep. */
function isDataStream(data: unknown): boolean {
  if (!isObject(data)) return false;
  if (Symbol.asyncIterator in data) return true;
  for (const value of Object.values(data)) {
    if (typeof value !== 'object' && typeof value !== 'function') continue;
    if (isObject(value) && Symbol.asyncIterator in value) return true;
    if (isThenable(value) && typeof (value as { readonly catch?: unknown }).catch === 'function') return true;
  }
  return false;
}
