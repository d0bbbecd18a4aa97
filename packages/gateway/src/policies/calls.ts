// Hot path: every call of every protocol is started here.
import { discardStream, isBodyStream } from '../http/response.ts';
import { execute, Failure, failureOf, type RawInputs } from '../procedures/execute.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { Procedure } from '../procedures/procedures.ts';
import { OwnCallScope, type CallScope } from './callScope.ts';
import { Deadlines, Waiting } from './deadlines.ts';
import type { Limits } from './limits.ts';
import type { RunCall } from './hooks.ts';
import { unlessItThrows, type CallTelemetry } from './telemetry.ts';

/** Takes the outcomes of calls, outputs or `Failure`s. It may be called while a call is being started. */
export interface OutcomeReceiver {
  settle(index: number, outcome: unknown): void;
  /** Takes the outcome of a call that ended after its deadline, but for a stream. */
  settleLate?(index: number, outcome: unknown): void;
}

/** Runs the calls of all protocols, as many at once as may be, each until its deadline and within its span. */
export class Calls {
  readonly #maxInFlight: number;
  readonly #deadlines: Deadlines;
  /** Runs a call where something is around it: `onCall`, a span, or both. */
  readonly #around: RunCall | undefined;

  constructor({ maxInFlight, callTimeoutMs }: Limits, isObserved = false, hooked?: RunCall) {
    this.#maxInFlight = maxInFlight;
    this.#deadlines = new Deadlines(callTimeoutMs);
    this.#around = isObserved ? observedCalls(hooked ?? execute) : hooked;
  }

  /** The calls that wait for something. One that does not wait has ended before anything else can run. */
  get inFlight(): number {
    return this.#deadlines.size;
  }

  /** Why so many more calls cannot start now. */
  rejection(count: number): LimitError | undefined {
    if (this.#deadlines.size + count <= this.#maxInFlight) return undefined;
    return new LimitError('in-flight', {
      code: 'SERVICE_UNAVAILABLE',
      message: `The server runs ${this.#maxInFlight} calls at once, and no more. Try again later.`,
      retryAfterSeconds: 1,
    });
  }

  /**
   * Starts a call. Its outcome goes to `receiver.settle(index, outcome)` exactly once, within this function where nothing
   * waits. Too many calls in flight and a passed deadline are failures too. It never throws.
   */
  start(
    procedure: Procedure,
    ctx: unknown,
    inputs: RawInputs,
    index: number,
    shared: CallScope,
    receiver: OutcomeReceiver,
  ): void {
    const rejection = this.rejection(1);
    if (rejection) {
      receiver.settle(index, new Failure(rejection));
      return;
    }
    const { deadlineMs } = procedure;
    const scope = deadlineMs === undefined ? shared : new OwnCallScope(shared, deadlineMs);
    const outcome =
      this.#around === undefined
        ? execute(procedure, ctx, inputs, index, scope)
        : this.#around(procedure, ctx, inputs, index, scope);
    if (outcome instanceof Promise) {
      const pending = new PendingOutcome(scope, receiver, index);
      this.#deadlines.add(pending);
      // It never rejects.
      void outcome.then((settled) => this.#settle(pending, settled));
    } else {
      receiver.settle(index, outcome);
    }
  }

  /** Waits for what calls need first, such as a context, until the scope's deadline. Meanwhile it counts as a call. */
  wait(promise: PromiseLike<unknown>, scope: CallScope, onOutcome: (outcome: unknown) => void): void {
    const pending = new PendingOutcome(scope, { settle: (_index, outcome) => onOutcome(outcome) }, 0);
    this.#deadlines.add(pending);
    promise.then(
      (value) => this.#settle(pending, value),
      (cause: unknown) => this.#settle(pending, failureOf(cause)),
    );
  }

  #settle(pending: PendingOutcome, outcome: unknown): void {
    if (this.#deadlines.delete(pending)) pending.receiver.settle(pending.index, outcome);
    // A stream that comes after the deadline: nobody reads it.
    else if (isBodyStream(outcome)) void discardStream(outcome);
    else pending.receiver.settleLate?.(pending.index, outcome);
  }
}

const observedCalls =
  (run: RunCall): RunCall =>
  (procedure, ctx, inputs, index, scope) => {
    const call = unlessItThrows(() => scope.telemetry?.call(procedure.path));
    if (call === undefined) return run(procedure, ctx, inputs, index, scope);
    let outcome: unknown;
    try {
      outcome = call.run(() => run(procedure, ctx, inputs, index, scope));
    } catch (cause) {
      // `run` never throws.
      return failureOf(cause);
    }
    if (!(outcome instanceof Promise)) return ended(call, outcome);
    return outcome.then((settled) => ended(call, settled));
  };

function ended(call: CallTelemetry, outcome: unknown): unknown {
  unlessItThrows(() => call.end(outcome instanceof Failure ? outcome.error : undefined));
  return outcome;
}

/** A call, or a context, that is waited for. */
class PendingOutcome extends Waiting {
  readonly receiver: OutcomeReceiver;
  readonly index: number;

  constructor(scope: CallScope, receiver: OutcomeReceiver, index: number) {
    super(scope);
    this.receiver = receiver;
    this.index = index;
  }

  expire(error: LimitError): void {
    this.receiver.settle(this.index, new Failure(error));
  }
}
