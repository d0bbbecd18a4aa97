import { performance } from 'node:perf_hooks';
import { getTRPCErrorFromUnknown, type AnyTRPCProcedure } from '@trpc/server';
import { LimitError } from '../procedures/limitError.ts';
import type { HttpRequest } from '../http/request.ts';
import { discardStream, isBodyStream } from '../http/response.ts';
import type { Limits } from './limits.ts';
import { execute, Failure, type RawInputs } from '../procedures/execute.ts';
import type { ProcedureDefinition } from '../procedures/procedures.ts';
import { CallScope } from './callScope.ts';
import type { Tracing } from './tracing.ts';

/** What a call is made with, as tRPC's handlers make it. */
export type ProcedureOptions = Parameters<AnyTRPCProcedure>[0] & {
  readonly path: string;
  readonly signal: AbortSignal;
};

/** Takes the outcomes of calls: an output, or `Failure`. It may be called while the call is being started. */
export interface OutcomeReceiver {
  settle(index: number, outcome: unknown): void;
}

export type { RawInputs };

/** One that is waited for. */
class Waiting {
  readonly scope: CallScope;
  /** Called at its deadline, once. */
  readonly end: (error: LimitError) => void;
  isOverdue = false;

  constructor(scope: CallScope, end: (error: LimitError) => void) {
    this.scope = scope;
    this.end = end;
  }
}

/** The calls that run now, of every face: how many, for how long, and under which trace. */
export class Calls {
  readonly #limits: Limits;
  readonly #tracing: Tracing | undefined;
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Limits, tracing: Tracing | undefined) {
    this.#limits = limits;
    this.#tracing = tracing;
  }

  /** How many are waited for. One that answers at once is over before anybody could ask. */
  get inFlight(): number {
    return this.#waiting.size;
  }

  /** Why so many more cannot run now. */
  refusal(count: number): LimitError | undefined {
    if (this.#waiting.size + count <= this.#limits.maxInFlight) return undefined;
    return new LimitError('in-flight', {
      code: 'SERVICE_UNAVAILABLE',
      message: `The server runs ${this.#limits.maxInFlight} calls at once, and no more. Try again later.`,
      retryAfterSeconds: 1,
    });
  }

  /**
   * Starts a call. Its outcome goes to `receiver.settle(index, outcome)` exactly once, within this function where nothing
   * waits: the output, or what it failed with. Too many calls in flight and a passed deadline are failures too. It never
   * throws.
   */
  start(
    procedure: ProcedureDefinition,
    ctx: unknown,
    inputs: RawInputs,
    index: number,
    scope: CallScope,
    receiver: OutcomeReceiver,
  ): void {
    const rejection = this.refusal(1);
    if (rejection) {
      receiver.settle(index, new Failure(rejection));
      return;
    }
    const run = () => execute(procedure, ctx, inputs, index, scope);
    const outcome = this.#tracing === undefined ? run() : this.#tracing(procedure.path, scope.request, run);
    if (outcome instanceof Promise) this.#pend(outcome, scope, receiver, index);
    else receiver.settle(index, outcome);
  }

  /** Waits for what calls need first, such as a context, until the scope's deadline. Meanwhile it counts as a call. */
  wait(pending: PromiseLike<unknown>, scope: CallScope, onOutcome: (outcome: unknown) => void): void {
    this.#pend(pending, scope, { settle: (_index, outcome) => onOutcome(outcome) }, 0);
  }

  #pend(pending: PromiseLike<unknown>, scope: CallScope, receiver: OutcomeReceiver, index: number): void {
    const settle = (outcome: unknown) => {
      this.#waiting.delete(waiting);
      receiver.settle(index, outcome);
    };
    const waiting = new Waiting(scope, (error) => settle(new Failure(error)));
    this.#add(waiting);
    pending.then(
      (outcome) => {
        if (!waiting.isOverdue) settle(outcome);
        // A stream that nobody will take.
        else if (isBodyStream(outcome)) void discardStream(outcome);
      },
      (cause: unknown) => {
        if (!waiting.isOverdue) settle(new Failure(getTRPCErrorFromUnknown(cause)));
      },
    );
  }

  /**
   * Runs a call until it gives its output, or its begun stream: at once where nothing in it is waited for.
   * @throws {LimitError} `in-flight`, `call-timeout`: thrown, or rejected with
   */
  run<T>(path: string, scope: CallScope, start: () => T | Promise<T>): T | Promise<T> {
    const output = this.begin(path, scope, start);
    return output instanceof Promise ? this.waitPromise(scope, output) : output;
  }

  /**
   * Begins a call, whose output, where it is not there at once, is to be waited for by `waitPromise`.
   * @throws {LimitError} `in-flight`
   */
  begin<T>(path: string, scope: CallScope, start: () => T | Promise<T>): T | Promise<T> {
    const refusal = this.refusal(1);
    if (refusal) throw refusal;
    return this.#traced(path, scope, start);
  }

  /**
   * Waits, until the deadline of its scope, for a call or for what it needs first; meanwhile it counts as one that runs.
   * @throws {LimitError} `call-timeout`
   */
  waitPromise<T>(scope: CallScope, pending: Promise<T>): Promise<T> {
    return this.waitFor(scope, pending, itself, rethrow);
  }

  /** As `wait`, and makes something of what comes. Not by a `then` behind it: a promise more costs 1% of a POST. */
  waitFor<T, R>(
    scope: CallScope,
    pending: Promise<T>,
    onOutput: (output: T) => R,
    onFailure: (cause: unknown) => R,
  ): Promise<R> {
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => {
        this.#waiting.delete(waiting);
        try {
          resolve(onFailure(cause));
        } catch (error) {
          reject(error);
        }
      };
      const waiting = new Waiting(scope, fail);
      this.#add(waiting);
      pending.then(
        (output) => {
          this.#waiting.delete(waiting);
          if (waiting.isOverdue) {
            // A stream that nobody will take.
            if (isBodyStream(output)) void discardStream(output);
            return;
          }
          try {
            resolve(onOutput(output));
          } catch (error) {
            reject(error);
          }
        },
        (cause: unknown) => {
          // At its deadline it failed already: who is told of failures is told once.
          if (!waiting.isOverdue) fail(cause);
        },
      );
    });
  }

  /**
   * Runs a procedure as tRPC's handlers call it.
   * @param deadline when it must have ended, where that is known: what it needed first had a part of its time
   */
  async procedure(
    procedure: AnyTRPCProcedure,
    options: ProcedureOptions,
    request: HttpRequest,
    deadline?: number,
  ): Promise<unknown> {
    const scope = new CallScope(request, options.signal);
    scope.deadline = deadline;
    return this.run(options.path, scope, () => procedure({ ...options, signal: scope.signal }));
  }

  /**
   * Runs a call whose output is a line of a stream. At the deadline its signal aborts, and what comes of that is the line.
   * @param overdue called at the deadline
   * @param cut called where nothing comes of it
   */
  line<T>(
    path: string,
    scope: CallScope,
    start: () => Promise<T>,
    overdue: (error: LimitError) => void,
    cut: () => void,
  ): Promise<T> {
    const refusal = this.refusal(1);
    if (refusal) return Promise.reject(refusal);
    const pending = Promise.resolve(this.#traced(path, scope, start));
    let patience: NodeJS.Timeout | undefined;
    const waiting = new Waiting(scope, (error) => {
      overdue(error);
      patience = setTimeout(() => {
        end();
        cut();
      }, lineGraceMs).unref();
    });
    const end = () => {
      clearTimeout(patience);
      this.#waiting.delete(waiting);
    };
    this.#add(waiting);
    pending.then(end, end);
    // As it is: a promise of ours would settle a turn later, and lines would come in another order than the adapter's.
    return pending;
  }

  #traced<T>(path: string, { request }: CallScope, start: () => T | Promise<T>): T | Promise<T> {
    return this.#tracing === undefined ? start() : this.#tracing(path, request, start);
  }

  #add(waiting: Waiting): void {
    const { callTimeoutMs } = this.#limits;
    waiting.scope.follow();
    waiting.scope.deadline ??= performance.now() + callTimeoutMs;
    this.#waiting.add(waiting);
    if (this.#timer === undefined && callTimeoutMs !== Infinity) this.#sweepIn(callTimeoutMs);
  }

  #sweepIn(ms: number): void {
    // A listener of an abort may have begun another wait meanwhile.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#sweep(), Math.min(ms, longestTimer)).unref();
  }

  /** Ends what is overdue. One timer serves all: nearly every call has ended long before its deadline. */
  #sweep(): void {
    this.#timer = undefined;
    // A timer may come a little early.
    const now = performance.now() + 1;
    let next = Infinity;
    for (const waiting of this.#waiting) {
      const { scope, isOverdue } = waiting;
      if (isOverdue) continue;
      if (scope.deadline !== undefined && scope.deadline > now) {
        next = Math.min(next, scope.deadline);
        continue;
      }
      waiting.isOverdue = true;
      const error = tooSlow(this.#limits.callTimeoutMs);
      waiting.end(error);
      scope.abort(error);
    }
    if (next !== Infinity) this.#sweepIn(next - now);
  }
}

const itself = <T>(output: T) => output;

function rethrow(cause: unknown): never {
  throw cause;
}

/** How long a line may take to come of the abort, in milliseconds. */
const lineGraceMs = 1000;

/** A longer one would fire at once. */
const longestTimer = 2 ** 31 - 1;

const tooSlow = (ms: number) =>
  new LimitError('call-timeout', {
    code: 'GATEWAY_TIMEOUT',
    message: `The call took longer than ${ms} ms; whether it had an effect is unknown.`,
  });
