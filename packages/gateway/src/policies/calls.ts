import { performance } from 'node:perf_hooks';
import { getTRPCErrorFromUnknown } from '@trpc/server';
import { LimitError } from '../procedures/limitError.ts';
import { discardStream, isBodyStream } from '../http/response.ts';
import type { Limits } from './limits.ts';
import { execute, Failure, type RawInputs } from '../procedures/execute.ts';
import type { ProcedureDefinition } from '../procedures/procedures.ts';
import type { CallScope } from './callScope.ts';
import type { Tracing } from './tracing.ts';

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

/** A longer one would fire at once. */
const longestTimer = 2 ** 31 - 1;

const tooSlow = (ms: number) =>
  new LimitError('call-timeout', {
    code: 'GATEWAY_TIMEOUT',
    message: `The call took longer than ${ms} ms; whether it had an effect is unknown.`,
  });
