// Hot path: every call of a procedure runs here. tRPC's own call copies its options twice per middleware and waits once
// per step: 42% of a GET of one animal went there (`npm run bench`, case get).
import { getTRPCErrorFromUnknown, type AnyTRPCProcedure, type TRPCError } from '@trpc/server';
import { isThenable } from '../http/maybePromise.ts';

/** Where a call's input comes from. `read` may throw (its error is the call's error) or return a promise. */
export interface RawInputs {
  read(index: number): unknown;
}

/** Why a call failed. A value, not a throw: throwing through compiled code costs 1-2 µs. */
export class Failure {
  readonly error: TRPCError;

  constructor(error: TRPCError) {
    this.error = error;
  }
}

/** One thing to do for a call: read the input, parse it, run the resolver, ... */
export interface Step {
  /** @param value what the step before returned, or its promise resolved to */
  readonly run: (run: StageRun, value: unknown) => unknown;
  /** Returns the error that replaces what `run` throws or rejects with. */
  readonly onError?: (cause: unknown) => TRPCError;
}

export interface Executable {
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly meta: unknown;
  readonly procedure: AnyTRPCProcedure;
  /**
   * The steps of a call, cut behind each of the router's own middlewares: a middleware's `next()` runs the next stage.
   * `undefined` if the procedure is called as tRPC exposes it.
   */
  readonly stages: readonly (readonly Step[])[] | undefined;
}

interface SignalScope {
  readonly signal: AbortSignal;
}

/**
 * Runs a procedure: input parsers, user middlewares, resolver, output parser, in tRPC's order.
 * @param index the call's place in its batch, and in `inputs`
 * @param scope where the signal is read from, when a resolver or a middleware is called
 * @returns the output or a `Failure`; at once where nothing waits, else a promise of either. It never throws or rejects.
 */
export function execute(
  procedure: Executable,
  ctx: unknown,
  inputs: RawInputs,
  index: number,
  scope: SignalScope,
): unknown {
  return procedure.stages
    ? runSteps(new StageRun(procedure, 0, inputs, index, scope, ctx, undefined, undefined))
    : callProcedure(procedure, ctx, inputs, index, scope);
}

/** Runs a stage, from a step on, until a step's result is pending. */
function runSteps(run: StageRun, from = 0, before?: unknown): unknown {
  const steps = run.procedure.stages?.[run.stage] ?? [];
  let at = from;
  let value = before;
  try {
    for (; at < steps.length; at += 1) {
      value = (steps[at] as Step).run(run, value);
      // As in tRPC, `next()` returns once its first step has run: a middleware may do something before the others.
      if (isThenable(value) || (at === 0 && run.stage > 0)) return resume(run, at, value);
    }
    return value;
  } catch (cause) {
    return failed(run, cause, steps[at]);
  }
}

/** Runs the rest of a stage once the result of a step is there. An `async` function took 4% more of a batch of 10. */
const resume = (run: StageRun, at: number, pending: unknown): Promise<unknown> =>
  Promise.resolve(pending).then(
    (value) => runSteps(run, at + 1, value),
    (cause: unknown) => failed(run, cause, run.procedure.stages?.[run.stage]?.[at]),
  );

/** What a stage that failed returns: to `execute`, or to the middleware that called `next()`. */
function failed({ stage }: StageRun, cause: unknown, step: Step | undefined): Failure | Result {
  const failure = failureOf(cause, step?.onError);
  return stage === 0 ? failure : { ok: false, error: failure.error, marker };
}

/** Calls a procedure as tRPC exposes it. */
async function callProcedure(
  { procedure, path, type }: Executable,
  ctx: unknown,
  inputs: RawInputs,
  index: number,
  { signal }: SignalScope,
): Promise<unknown> {
  try {
    const getRawInput = async () => inputs.read(index);
    return await procedure({ ctx, getRawInput, path, type, signal, batchIndex: index });
  } catch (cause) {
    return failureOf(cause);
  }
}

/** Never throws, whatever was thrown. */
export function failureOf(
  cause: unknown,
  toError: (cause: unknown) => TRPCError = getTRPCErrorFromUnknown,
): Failure {
  try {
    const error = toError(cause);
    // A getter of an error that a procedure made itself may throw: here, and not where the error is answered.
    void [error.code, error.message, error.cause];
    return new Failure(error);
  } catch (error) {
    // A thrown object may have a `message` that cannot be converted to a string.
    return failureOf(error);
  }
}

type GetRawInput = () => Promise<unknown>;

/** What a middleware may pass to `next()`. */
interface NextOptions {
  readonly ctx?: object;
  readonly input?: unknown;
  readonly getRawInput?: GetRawInput;
}

/**
 * What resolvers and middlewares receive. All members are its own, so that `{ ...options }` has them. A class: V8 would
 * allocate the literal in the old generation (pretenuring), which keeps all that a call made alive: 3 times the time of a GET.
 */
class StepOptions {
  readonly path: string;
  readonly getRawInput: GetRawInput;
  readonly ctx: unknown;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly signal: AbortSignal;
  readonly batchIndex: number;
  readonly input: unknown;
  readonly meta: unknown;
  readonly next: (options?: NextOptions) => Promise<unknown>;

  constructor(run: StageRun) {
    const { procedure, inputs, index } = run;
    this.path = procedure.path;
    this.getRawInput = run.getRawInput ?? (async () => inputs.read(index));
    this.ctx = run.ctx;
    this.type = procedure.type;
    this.signal = run.scope.signal;
    this.batchIndex = index;
    this.input = run.input;
    this.meta = procedure.meta;
    // The resolver of nearly every procedure needs no function of its own.
    this.next = run.stage + 1 < (procedure.stages?.length ?? 0) ? nextOf(run) : nothingNext;
  }
}

/** `next()` of a middleware: runs the next stage. It does not read the options, which a middleware may change. */
const nextOf = (run: StageRun) => (options?: NextOptions) => {
  const ctx = options?.ctx ? { ...(run.ctx as object), ...options.ctx } : run.ctx;
  const input = options && 'input' in options ? options.input : run.input;
  const getRawInput = options?.getRawInput ?? run.getRawInput;
  const { procedure, stage, inputs, index, scope } = run;
  return Promise.resolve(
    runSteps(new StageRun(procedure, stage + 1, inputs, index, scope, ctx, input, getRawInput)),
  );
};

/** `next()` of a resolver, behind which there is nothing. */
const nothingNext = async () => ({
  ok: false,
  error: getTRPCErrorFromUnknown(new TypeError('middleware is not a function')),
  marker,
});

/** What middlewares get from `next()`, and return. */
export type Result =
  | { readonly ok: true; readonly data: unknown; readonly marker: string; readonly ctx?: unknown }
  | { readonly ok: false; readonly error: unknown; readonly marker: string };

/** tRPC's brand of results. */
export const marker = 'middlewareMarker';

/** One run of a stage: the steps up to a middleware or the resolver, and those that follow its result. */
export class StageRun {
  readonly procedure: Executable;
  readonly stage: number;
  readonly inputs: RawInputs;
  readonly index: number;
  readonly scope: SignalScope;
  readonly ctx: unknown;
  input: unknown;
  /** A middleware's own; `undefined` for the client's input. */
  readonly getRawInput: GetRawInput | undefined;
  /** What the middleware or the resolver of this stage received. */
  options: StepOptions | undefined = undefined;
  result: Result | undefined = undefined;

  constructor(
    procedure: Executable,
    stage: number,
    inputs: RawInputs,
    index: number,
    scope: SignalScope,
    ctx: unknown,
    input: unknown,
    getRawInput: GetRawInput | undefined,
  ) {
    this.procedure = procedure;
    this.stage = stage;
    this.inputs = inputs;
    this.index = index;
    this.scope = scope;
    this.ctx = ctx;
    this.input = input;
    this.getRawInput = getRawInput;
  }
}

/** Makes the options of a stage's middleware or resolver. */
export function optionsOf(run: StageRun): StepOptions {
  run.options = new StepOptions(run);
  return run.options;
}
