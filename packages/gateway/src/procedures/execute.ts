// Hot path: every call of a procedure runs here. tRPC's own call copies its options twice per middleware and awaits
// once per step, which took 42% of a GET of one animal (`npm run bench`, case get). The steps of a call are a `switch`
// and not a closure each: that makes a synchronous call 15% faster (0.15 to 0.13 µs).
import { getTRPCErrorFromUnknown, type AnyTRPCProcedure, type TRPCError } from '@trpc/server';
import { discardOutput, ignoreRejections } from '../http/asyncValues.ts';
import { isObject } from '../http/isObject.ts';
import { boundIssues } from './inputError.ts';

/** The calls of one request: their context and their unparsed inputs. */
export interface CallSource {
  readonly ctx: unknown;
  /** Returns the input of a call, or a promise of it. An error that it throws is the call's error. */
  read(index: number): unknown;
}

/** Where a call reads whether it is aborted. Created when first read, so a call that does not read it has no cost. */
interface SignalSource {
  readonly signal: AbortSignal;
}

/** The outcome of a failed call. Returned, not thrown: throwing through compiled code costs 1-2 µs. */
export class Failure {
  readonly error: TRPCError;

  constructor(error: TRPCError) {
    this.error = error;
  }
}

/** One step of a stage. The result of a step, awaited, is the value of the next one. */
export type CallStep =
  /** Reads the raw input. */
  | { readonly kind: 'read' }
  /** Parses an input or the output. */
  | {
      readonly kind: 'parse';
      readonly parse: (value: unknown) => unknown;
      /** Converts an error of the parser to the call's error. */
      readonly toError: (cause: unknown) => TRPCError;
    }
  /** Merges the parsed input with the earlier ones. */
  | { readonly kind: 'merge' }
  /** Calls a middleware or the resolver. */
  | { readonly kind: 'call'; readonly call: (options: StepOptions) => unknown }
  | {
      readonly kind: 'convert';
      /** @param options the options of the middleware or resolver, if it was called */
      readonly convert: (value: unknown, options: StepOptions | undefined) => unknown;
    };

export interface Executable {
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly meta: unknown;
  readonly procedure: AnyTRPCProcedure;
  /**
   * The steps of a call, split after each of the router's own middlewares: a middleware's `next()` runs the next stage.
   * `undefined` if the procedure is called through tRPC.
   */
  readonly stages: readonly (readonly CallStep[])[] | undefined;
}

/**
 * Runs a procedure: input parsers, user middlewares, resolver, output parser, in tRPC's order.
 * @param index the index of the call in its request
 * @param context has the signal, which is read when a resolver or a middleware is called
 * @returns the output or a `Failure`; a promise of either if a step is asynchronous. It never throws or rejects.
 */
export function execute(
  procedure: Executable,
  source: CallSource,
  index: number,
  context: SignalSource,
): unknown {
  return procedure.stages
    ? runSteps(new StageRun(procedure, source, index, context))
    : callProcedure(procedure, source, index, context);
}

/** Runs the rest of a stage after the result `settled`; `resume` continues when a step returns a promise. */
function runSteps(run: StageRun, settled?: unknown): unknown {
  const steps = run.procedure.stages?.[run.stage] ?? [];
  let value = settled;
  /** The value that the last schema has parsed. */
  let unparsed: unknown;
  try {
    while (run.at < steps.length) {
      const step = steps[run.at] as CallStep;
      run.at += 1;
      switch (step.kind) {
        case 'read':
          value = run.getRawInput ? run.getRawInput() : run.source.read(run.index);
          break;
        case 'parse': {
          // Without `this`, which a parser that is a function would receive.
          const { parse } = step;
          unparsed = value;
          value = parse(value);
          break;
        }
        case 'merge':
          run.input = run.input === undefined ? value : mergeInputs(run.input, value);
          continue;
        case 'call':
          unparsed = undefined;
          run.options = new StepOptions(run);
          value = step.call(run.options);
          break;
        default:
          value = step.convert(value, run.options);
      }
      // `isThenable`, written out, since every step runs it.
      const isPending =
        ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
        typeof (value as { readonly then?: unknown }).then === 'function';
      // As in tRPC, `next()` returns after its first step: a middleware may do something before the remaining ones.
      if (isPending || (run.at === 1 && run.stage > 0)) return resume(run, value, unparsed);
    }
    return value;
  } catch (cause) {
    return stageFailure(run, cause, unparsed);
  }
}

/** Runs the remaining steps when a promise settles. As an `async` function, it slowed async calls by 10%. */
function resume(run: StageRun, pending: unknown, unparsed: unknown): Promise<unknown> {
  // An output that the schema may reject, later than a promise in it.
  if (run.options !== undefined && unparsed !== undefined) ignoreRejections(unparsed);
  return Promise.resolve(pending).then(
    (value) => runSteps(run, value),
    (cause: unknown) => stageFailure(run, cause, unparsed),
  );
}

/** Merges the parsed input with the earlier ones if both are objects; otherwise replaces them. */
const mergeInputs = (earlier: unknown, parsed: unknown): unknown =>
  isObject(earlier) && isObject(parsed) ? { ...earlier, ...parsed } : parsed;

/** Returns a `Failure` to `execute`, a tRPC result to `next()`. `unparsed`: what the step has parsed. */
function stageFailure(run: StageRun, cause: unknown, unparsed: unknown): Failure | MiddlewareResult {
  const { at, options, procedure, stage } = run;
  const step = procedure.stages?.[stage]?.[at - 1];
  // An output that its schema does not accept.
  if (step?.kind === 'parse' && options) discardOutput(unparsed);
  const outcome = failureOf(cause, step?.kind === 'parse' ? step.toError : toTrpcError);
  return stage === 0 ? outcome : { ok: false, error: outcome.error, marker };
}

/** Calls a procedure through tRPC's public call. */
async function callProcedure(
  { procedure, path, type }: Executable,
  source: CallSource,
  index: number,
  { signal }: SignalSource,
): Promise<unknown> {
  try {
    const getRawInput = async () => source.read(index);
    return await procedure({ ctx: source.ctx, getRawInput, path, type, signal, batchIndex: index });
  } catch (cause) {
    return failureOf(cause);
  }
}

/** Converts anything thrown to a `TRPCError`, as tRPC does, and bounds the issues of a schema's error. */
function toTrpcError(cause: unknown): TRPCError {
  boundIssues(cause);
  // A `TRPCError` that a procedure threw may have a schema's error as its cause.
  if (cause instanceof Error) boundIssues(cause.cause);
  return getTRPCErrorFromUnknown(cause);
}

/** Converts anything thrown to a `Failure`. It never throws. */
export function failureOf(cause: unknown, toError: (cause: unknown) => TRPCError = toTrpcError): Failure {
  try {
    const error = toError(cause);
    // A getter of a custom error may throw: make it throw here, and not when the response is written.
    void [error.code, error.message, error.cause];
    return new Failure(error);
  } catch (error) {
    // A thrown object may have a `message` that cannot be converted to a string.
    return failureOf(error);
  }
}

/** Returns anything thrown as the cause of another error: a `TRPCError` would read all members, whose getters may throw. */
export function readableCause(cause: unknown): Error | undefined {
  const { error } = failureOf(cause);
  return error === cause ? error : error.cause;
}

type GetRawInput = () => Promise<unknown>;

interface NextOptions {
  readonly ctx?: object;
  readonly input?: unknown;
  readonly getRawInput?: GetRawInput;
}

/**
 * All members are own properties, for `{ ...options }`. A class, since V8 would allocate a literal in the old
 * generation (pretenuring), which keeps all objects of a call alive and makes a GET 3 times as slow.
 */
class StepOptions {
  readonly path: string;
  readonly getRawInput: GetRawInput;
  readonly ctx: unknown;
  readonly type: 'query' | 'mutation' | 'subscription';
  declare signal: AbortSignal;
  readonly batchIndex: number;
  readonly input: unknown;
  readonly meta: unknown;
  readonly next: (options?: NextOptions) => Promise<unknown>;

  constructor(run: StageRun) {
    const { procedure, source, index } = run;
    this.path = procedure.path;
    this.getRawInput = run.getRawInput ?? (async () => source.read(index));
    this.ctx = run.ctx;
    this.type = procedure.type;
    setSignal(this, run.context);
    this.batchIndex = index;
    this.input = run.input;
    this.meta = procedure.meta;
    // Not a new function per call for resolvers, which never use it.
    this.next = run.stage + 1 < (procedure.stages?.length ?? 0) ? createNext(run) : nextOfResolver;
  }
}

/** The member of options that has the context of their call: a symbol, which copies, proxies and heirs of options have too. */
const callContext = Symbol('context');

/** Options on Bun. */
interface LazyOptions {
  [callContext]?: SignalSource;
}

/** The member `signal` on Bun. One descriptor for all calls: other getters would make other hidden classes. */
const lazySignal: PropertyDescriptor & ThisType<LazyOptions> = {
  configurable: true,
  enumerable: true,
  get() {
    return this[callContext]?.signal;
  },
  set(value) {
    Object.defineProperty(this, 'signal', { configurable: true, enumerable: true, writable: true, value });
  },
};

/**
 * On Bun an accessor that creates it when read: an `AbortController` takes 0.3 µs there, a tenth of a GET, and few
 * procedures read it. In V8, one takes 0.07 µs, but an accessor 0.1 to 0.3 per call of a batch.
 */
const setSignal: (options: { signal: AbortSignal } & LazyOptions, context: SignalSource) => void =
  'Bun' in globalThis
    ? (options, context) => {
        options[callContext] = context;
        Object.defineProperty(options, 'signal', lazySignal);
      }
    : (options, { signal }) => {
        options.signal = signal;
      };

/** Reads the run, since a middleware may change its options. Bun's messages have tRPC's parameter name. */
const createNext = (run: StageRun) => (nextOpts?: NextOptions) => {
  const next = new StageRun(run.procedure, run.source, run.index, run.context);
  next.stage = run.stage + 1;
  next.ctx = nextOpts?.ctx ? { ...(run.ctx as object), ...nextOpts.ctx } : run.ctx;
  next.input = nextOpts && 'input' in nextOpts ? nextOpts.input : run.input;
  next.getRawInput = nextOpts?.getRawInput ?? run.getRawInput;
  return Promise.resolve(runSteps(next));
};

/** `next()` of a resolver, which has no next stage: fails as in tRPC. */
const nextOfResolver = async () => ({
  ok: false,
  error: getTRPCErrorFromUnknown(new TypeError('middleware is not a function')),
  marker,
});

/** The result of a middleware's `next()`, which middlewares return. */
export type MiddlewareResult =
  | { readonly ok: true; readonly data: unknown; readonly marker: string; readonly ctx?: unknown }
  | { readonly ok: false; readonly error: unknown; readonly marker: string };

/** The `marker` of every result, by which tRPC recognises them. */
export const marker = 'middlewareMarker';

/** One run of a stage, whose steps are those before a middleware or the resolver, the function itself, and those after it. */
class StageRun {
  readonly procedure: Executable;
  readonly source: CallSource;
  readonly index: number;
  readonly context: SignalSource;
  stage: number;
  ctx: unknown;
  /** The merged input of the parsers that have run. */
  input: unknown;
  /** The function that a middleware passed to `next()`; `undefined` for the client's input. */
  getRawInput: GetRawInput | undefined;
  /** The options of this stage's middleware or resolver, once it is called, which may change them. */
  options: StepOptions | undefined = undefined;
  /** The index of the next step. */
  at = 0;

  // Sets what a call begins with; `next()` sets the rest for a later stage. Eight parameters took the same time.
  constructor(procedure: Executable, source: CallSource, index: number, context: SignalSource) {
    this.procedure = procedure;
    this.source = source;
    this.index = index;
    this.context = context;
    this.stage = 0;
    this.ctx = source.ctx;
    this.input = undefined;
    this.getRawInput = undefined;
  }
}
