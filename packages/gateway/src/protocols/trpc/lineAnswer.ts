// Hot path: one object for a request.
import { getErrorShape, getTRPCErrorFromUnknown, type AnyTRPCRouter, type TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { isThenable } from '../../http/after.ts';
import { Answer } from '../../http/answer.ts';
import type { Calls } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Header } from '../../http/response.ts';
import type { RpcOptions } from './options.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import { rpcHeaders } from './responseMeta.ts';
import { JsonLines, type JsonLinesOptions, type LineOutcome } from './jsonLines.ts';
import { LineInputs } from './lineInputs.ts';
import type { PlainOptions } from './plainAnswer.ts';
import { PlainInfo } from './plainInfo.ts';
import type { PlainInputs } from './plainInputs.ts';
import { StreamReport } from './streamReport.ts';

/** What an answer needs of the wire. */
export interface LineOptions extends PlainOptions {
  /** Watches, while lines are sent, whether they still may be. */
  readonly watch: (onRevoked: () => void) => () => void;
}

/** What all answers of a router share. */
export interface LineRouter<Router extends AnyTRPCRouter> {
  readonly config: Router['_def']['_config'];
  readonly calls: Calls;
  readonly onError: RpcOptions<Router>['onError'];
  readonly headers: readonly Header[];
  readonly pingMs: JsonLinesOptions['pingMs'];
  readonly serialize: JsonLinesOptions['serialize'];
  readonly maxLineBytes: JsonLinesOptions['maxLineBytes'];
}

/** Runs the calls of a batch, and answers by JSON lines as `resolveResponse` (@trpc/server 11.25) does, to the byte. */
export class LineAnswer<Router extends AnyTRPCRouter> {
  readonly #router: LineRouter<Router>;
  readonly #request: HttpRequest;
  readonly #options: LineOptions;
  readonly #procedures: readonly ProcedureDefinition[];
  readonly #inputs: PlainInputs;
  readonly #lineInputs: LineInputs;
  readonly #scope: CallScope;
  readonly #report: StreamReport<Router>;
  #contextFailure: TRPCError | undefined = undefined;
  #lines: JsonLines | undefined = undefined;

  constructor(
    router: LineRouter<Router>,
    request: HttpRequest,
    options: LineOptions,
    procedures: readonly ProcedureDefinition[],
    inputs: PlainInputs,
  ) {
    this.#router = router;
    this.#request = request;
    this.#options = options;
    this.#procedures = procedures;
    this.#inputs = inputs;
    this.#lineInputs = new LineInputs(inputs, request.method !== 'GET');
    this.#scope = new CallScope(request);
    this.#report = new StreamReport(request, procedures[0]?.type ?? 'unknown', router.onError);
  }

  make(): Answer | Promise<Answer> {
    const { createContext, url } = this.#options;
    const info = new PlainInfo(this.#request, url, true, this.#procedures, this.#inputs, 'application/jsonl');
    let made: unknown;
    try {
      made = createContext(info);
    } catch (cause) {
      return this.#refuse(cause);
    }
    if (!isThenable(made)) return this.#run(made);
    // A scope of its own: each line has all of its time.
    return this.#router.calls.waitPromise(new CallScope(this.#request), Promise.resolve(made)).then(
      (context) => this.#run(context),
      (cause: unknown) => this.#refuse(cause),
    );
  }

  #refuse(cause: unknown): Answer {
    this.#contextFailure = getTRPCErrorFromUnknown(cause);
    return this.#run(undefined);
  }

  #run(context: unknown): Answer {
    this.#report.context = context;
    const { headers, maxLineBytes, pingMs, serialize } = this.#router;
    const outcomes = this.#procedures.map((procedure, index) => this.#outcome(procedure, index));
    const lines = new JsonLines(outcomes, {
      serialize,
      pingMs,
      maxLineBytes,
      fail: (cause, index) => {
        const error = getTRPCErrorFromUnknown(cause);
        this.#report.tell(error, undefined, undefined);
        return this.#shapeOf(error, index);
      },
      watch: this.#options.watch,
      abort: () => this.#scope.abort(),
    });
    this.#lines = lines;
    // Nobody is there to be told, and nothing failed but the connection.
    if (this.#request.isAborted) {
      lines.cut();
      return new Answer(499, []);
    }
    // The head goes out before the calls have run: it has what `createContext` said.
    const answer = new Answer(200, rpcHeaders(this.#options.reply).slice(), lines, headers);
    answer.operation = this.#inputs.paths.join(',');
    return this.#report.follow(answer);
  }

  async #outcome(procedure: ProcedureDefinition, index: number): Promise<LineOutcome> {
    let data: unknown;
    let error: TRPCError | undefined;
    try {
      data = await this.#call(procedure, index);
    } catch (cause) {
      error = getTRPCErrorFromUnknown(cause);
      this.#report.tell(error, this.#inputs.paths[index], this.#lineInputs.known(index));
    }
    // As there: the input of a call that failed may have been read for another meanwhile.
    await aTurn;
    if (error) return { error: this.#shapeOf(error, index) };
    return isObservable(data) ? { events: observableToAsyncIterable(data, this.#scope.signal) } : { data };
  }

  #call({ path, callInTurns }: ProcedureDefinition, index: number): Promise<unknown> {
    if (this.#contextFailure) throw this.#contextFailure;
    return this.#router.calls.line(
      path,
      this.#scope,
      () => callInTurns(this.#report.context, () => this.#lineInputs.input(index), this.#scope.signal, index),
      (error) => this.#report.meet(error),
      () => this.#lines?.cut(),
    );
  }

  #shapeOf(error: TRPCError, index: number): unknown {
    return getErrorShape({
      config: this.#router.config,
      ctx: this.#report.context as never,
      error,
      input: this.#lineInputs.known(index),
      path: this.#inputs.paths[index],
      type: this.#procedures[index]?.type ?? 'unknown',
    });
  }
}

const aTurn = Promise.resolve();
