// Hot path: one object for a request.
import { getErrorShape, getTRPCErrorFromUnknown, type AnyTRPCRouter, type TRPCError } from '@trpc/server';
import { after, isThenable } from '../../http/after.ts';
import { Answer } from '../../http/answer.ts';
import type { Calls } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import { Failed } from '../../procedures/failed.ts';
import { discardStream, isBodyStream, type BodyStream } from '../../http/response.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Header } from '../../http/response.ts';
import type { RpcOptions } from './options.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import { rpcHeaders } from './responseMeta.ts';
import { JsonLines, type JsonLinesFormat } from './jsonLines.ts';
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
  readonly pingMs: number | undefined;
  readonly format: JsonLinesFormat;
}

/** Runs the calls of a batch, and answers by JSON lines as `resolveResponse` (@trpc/server 11.25) does, to the byte. */
export class LineAnswer<Router extends AnyTRPCRouter> {
  readonly #router: LineRouter<Router>;
  readonly #request: HttpRequest;
  readonly #options: LineOptions;
  readonly #procedures: readonly ProcedureDefinition[];
  readonly #inputs: PlainInputs;
  readonly #scope: CallScope;
  readonly #report: StreamReport<Router>;
  #contextFailure: Failed | undefined = undefined;

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

  #refuse(cause: unknown): Answer | Promise<Answer> {
    this.#contextFailure = new Failed(getTRPCErrorFromUnknown(cause));
    return this.#run(undefined);
  }

  #run(context: unknown): Answer | Promise<Answer> {
    this.#report.context = context;
    const { format, pingMs } = this.#router;
    const lines = new JsonLines(format, {
      calls: this.#procedures.length,
      pingMs,
      signal: this.#scope.signal,
      callError: (error, index) => {
        this.#report.tell(error, this.#inputs.paths[index], this.#inputs.known(index));
        return this.#shapeOf(error, index);
      },
      outputError: (cause, index) => {
        const error = getTRPCErrorFromUnknown(cause);
        this.#report.tell(error, undefined, undefined);
        return this.#shapeOf(error, index);
      },
      watch: this.#options.watch,
      abort: () => this.#scope.abort(),
    });
    // Before the calls have run: what procedures set then would be in the head of some responses, and not of others.
    const headers = rpcHeaders(this.#options.reply).slice();
    const { calls } = this.#router;
    for (let index = 0; index < this.#procedures.length; index += 1) {
      if (this.#contextFailure) lines.settle(index, this.#contextFailure);
      else
        calls.start(
          this.#procedures[index] as ProcedureDefinition,
          context,
          this.#inputs,
          index,
          this.#scope,
          lines,
        );
    }
    return after(lines.body(), (body) => this.#answer(headers, body));
  }

  #answer(headers: Header[], body: string | BodyStream): Answer {
    // Nobody is there to be told, and nothing failed but the connection.
    if (this.#request.isAborted) {
      if (isBodyStream(body)) void discardStream(body);
      return new Answer(499, []);
    }
    const answer = new Answer(200, headers, body, this.#router.headers);
    answer.operation = this.#inputs.paths.join(',');
    return this.#report.follow(answer);
  }

  #shapeOf(error: TRPCError, index: number): unknown {
    return getErrorShape({
      config: this.#router.config,
      ctx: this.#report.context as never,
      error,
      input: this.#inputs.known(index),
      path: this.#inputs.paths[index],
      type: this.#procedures[index]?.type ?? 'unknown',
    });
  }
}
