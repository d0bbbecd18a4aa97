// Hot path: every call of every protocol is started here.
import { discardOutput, ignoreRejections } from '../http/asyncValues.ts';
import { tryHook } from '../http/hooks.ts';
import { mapMaybePromise } from '../http/maybePromise.ts';
import { isBodyStream } from '../http/response.ts';
import { execute, Failure, failureOf, type CallSource } from '../procedures/execute.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { Procedure } from '../procedures/procedure.ts';
import { CallContext, type RequestPolicy } from './requestContext.ts';
import { Deadlines, type OutcomeReceiver, PendingCall } from './deadlines.ts';
import type { Limits } from './limits.ts';
import type { ToError } from './mapError.ts';
import { runObserved } from './telemetry.ts';

/**
 * Runs the calls of all protocols. It limits how many run at once, and applies deadlines and telemetry. As a policy, it
 * rejects a request with 503 if none of its calls could run.
 */
export class CallRunner implements RequestPolicy {
  readonly #maxInFlight: number;
  readonly #deadlines: Deadlines;
  readonly #run: typeof executeObserved;

  /**
   * @param toError maps the errors of calls; `undefined` without `mapError`
   * @param onOutcome receives the outcome of each call, in development
   */
  constructor(
    { maxInFlight, callTimeoutMs }: Limits,
    isObserved = false,
    toError?: ToError,
    onOutcome?: (procedure: Procedure, outcome: unknown) => void,
  ) {
    this.#maxInFlight = maxInFlight;
    this.#deadlines = new Deadlines(callTimeoutMs);
    const run = isObserved ? executeObserved : execute;
    this.#run =
      toError || onOutcome
        ? (...call) =>
            mapMaybePromise(run(...call), (outcome) => {
              onOutcome?.(call[0], outcome);
              return toError && outcome instanceof Failure ? new Failure(toError(outcome.error)) : outcome;
            })
        : run;
  }

  /** The number of pending calls. A call that completes synchronously is never counted. */
  get inFlight(): number {
    return this.#deadlines.size;
  }

  admit(): LimitError | undefined {
    return this.#deadlines.size >= this.#maxInFlight ? this.#overload() : undefined;
  }

  #overload(): LimitError {
    return new LimitError('in-flight', {
      code: 'SERVICE_UNAVAILABLE',
      message: `The server is at its limit of ${this.#maxInFlight} concurrent calls. Try again later.`,
      retryAfterSeconds: 1,
    });
  }

  /**
   * Starts a call. It calls `request.settle(index, outcome)` exactly once, synchronously if the call completes
   * synchronously. Too many calls in flight and a missed deadline are reported as a `Failure`. It never throws.
   */
  start(
    procedure: Procedure,
    request: CallSource & OutcomeReceiver,
    index: number,
    shared: CallContext,
  ): void {
    // Again for each call: others may have started meanwhile, and calls of a batch that find no place fail alone.
    if (this.#deadlines.size >= this.#maxInFlight) {
      request.settle(index, new Failure(this.#overload()));
      return;
    }
    const { callTimeoutMs } = procedure;
    const context =
      callTimeoutMs === undefined ? shared : new CallContext(shared.request, shared, callTimeoutMs);
    const outcome = this.#run(procedure, request, index, context);
    if (outcome instanceof Promise) {
      this.#settleLater(outcome, new PendingCall(context, request, index), procedure.mayReturnAsync);
    } else {
      request.settle(index, outcome);
      if (procedure.mayReturnAsync) release(request, outcome);
    }
  }

  /** @param outcome never rejects */
  #settleLater(outcome: Promise<unknown>, pending: PendingCall, mayBeAsync: boolean): void {
    this.#deadlines.add(pending);
    void outcome.then((settled) => this.#settle(pending, settled, mayBeAsync));
  }

  /** Waits for what calls need, such as a context, until the context's deadline. It counts as a call meanwhile. */
  wait(promise: PromiseLike<unknown>, context: CallContext, onOutcome: (outcome: unknown) => void): void {
    const pending = new PendingCall(context, { settle: (_index, outcome) => onOutcome(outcome) }, 0);
    this.#deadlines.add(pending);
    // Whatever `then` of the given promise does, that of `Promise.resolve` neither throws nor calls back twice.
    Promise.resolve(promise).then(
      (value) => this.#settle(pending, value),
      (cause: unknown) => this.#settle(pending, failureOf(cause)),
    );
  }

  /** Waits for a policy, with its own deadline. Rejects with a `TRPCError`: its error, or a `LimitError`. */
  waitForPolicy<Result>(promise: Promise<Result>, { request }: CallContext): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.wait(promise, new CallContext(request), (outcome) => {
        if (outcome instanceof Failure) reject(outcome.error);
        else resolve(outcome as Result);
      });
    });
  }

  #settle(pending: PendingCall, outcome: unknown, mayBeAsync = false): void {
    const { index, receiver } = pending;
    if (this.#deadlines.delete(pending)) {
      receiver.settle(index, outcome);
      if (mayBeAsync) release(receiver, outcome);
      return;
    }
    // A stream that arrives after the deadline has no reader.
    if (!isBodyStream(outcome)) receiver.settleLate?.(index, outcome);
    if (mayBeAsync) discardOutput(outcome);
  }
}

/** Releases the promises and async iterables of an output that its receiver does not read. */
function release({ readsIterables }: OutcomeReceiver, outcome: unknown): void {
  if (readsIterables) ignoreRejections(outcome);
  else discardOutput(outcome);
}

/** Runs a call within its span. */
function executeObserved(
  procedure: Procedure,
  source: CallSource,
  index: number,
  context: CallContext,
): unknown {
  const { telemetry } = context;
  const call = telemetry && tryHook((each) => each.call(procedure.path), telemetry);
  if (call === undefined) return execute(procedure, source, index, context);
  const outcome = runObserved(call, () => execute(procedure, source, index, context));
  return mapMaybePromise(outcome, (settled) => {
    tryHook((error) => call.end(error), settled instanceof Failure ? settled.error : undefined);
    return settled;
  });
}
