// Hot path: every call of a procedure runs through it. tRPC's own call copies its options twice per middleware and waits
// once per step: 42% of a GET of one animal went there (`npm run bench`, case get).
import { getTRPCErrorFromUnknown, initTRPC, TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { isThenable } from '../http/after.ts';
import { isObject } from '../http/isObject.ts';
import { Failed } from './failed.ts';
import { parseFunction, type Parser } from './parseFunction.ts';
import type { CompiledCall, TurnwiseCall, ProcedureCall } from './procedureCall.ts';

/** What is read of a procedure (@trpc/server 11.25). Its type does not say half of it. */
interface Definition {
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly meta: unknown;
  readonly inputs: readonly Parser[];
  readonly output?: Parser;
  readonly middlewares: readonly Middleware[];
  readonly resolver: (options: unknown) => unknown;
  readonly experimental_caller?: unknown;
  readonly caller?: unknown;
}

type Middleware = ((options: unknown) => Promise<unknown>) & { readonly _type?: string };

/** What middlewares hand back up the chain. */
type Result =
  | { readonly ok: true; readonly data: unknown; readonly ctx?: unknown }
  | { readonly ok: false; readonly error: unknown };

/** tRPC marks results by it, for types alone. */
const marker = 'middlewareMarker';

/**
 * A procedure as a function that does without the copies, and without waiting where nothing is to be waited for;
 * `undefined` where its form is not the known one.
 */
export function fastCall(path: string, procedure: AnyTRPCProcedure): CompiledCall | undefined {
  const definition = procedure._def as unknown as Definition;
  if (!isKnown(procedure, definition)) return undefined;
  const direct = directCall(path, definition);
  const callInTurns = chainCall(path, { ...definition, middlewares: leanMiddlewares(definition) });
  const call: ProcedureCall =
    direct ??
    ((ctx, getRawInput, signal, batchIndex = 0) =>
      callInTurns(ctx, async () => getRawInput(), signal, batchIndex));
  return { way: direct ? 'direct' : 'chain', call, callInTurns };
}

/** tRPC's own middlewares as it has them, step for step, but for copies by property descriptors: a tenth of such a call. */
function leanMiddlewares({ inputs, output, middlewares, resolver }: Definition): readonly Middleware[] {
  const before = middlewares.slice(0, -1);
  const read = before.filter((middleware) => isOwn(middleware, 'input'));
  const checks = before.filter((middleware) => isOwn(middleware, 'output'));
  const lean = new Map<Middleware, Middleware>();
  // One may carry a parser that nothing here could reach.
  if (read.length === inputs.length) {
    for (const [at, middleware] of read.entries())
      lean.set(middleware, inputMiddleware(inputs[at] as Parser));
  }
  const [check, ...more] = checks;
  if (check && output !== undefined && more.length === 0) lean.set(check, outputMiddleware(output));
  const resolve: Middleware = async (options) => {
    const data = await resolver(options);
    return { marker, ok: true, data, ctx: (options as { readonly ctx?: unknown }).ctx };
  };
  return [...before.map((middleware) => lean.get(middleware) ?? middleware), resolve];
}

const isOwn = (middleware: Middleware, kind: 'input' | 'output') =>
  middleware._type === kind && String(middleware) === sample[kind];

function inputMiddleware(parser: Parser): Middleware {
  const parse = parseFunction(parser);
  return async (options) => {
    const { getRawInput, input, next } = options as MiddlewareOptions;
    let parsed: unknown;
    const raw = await getRawInput();
    try {
      parsed = await parse(raw);
    } catch (cause) {
      throw badInput(cause);
    }
    return next({ input: isObject(input) && isObject(parsed) ? { ...input, ...parsed } : parsed });
  };
}

function outputMiddleware(parser: Parser): Middleware {
  const parse = parseFunction(parser);
  return async (options) => {
    const result = await (options as MiddlewareOptions).next();
    if (!result.ok) return result;
    try {
      return { ...result, data: await parse(result.data) };
    } catch (cause) {
      throw badOutput(cause);
    }
  };
}

interface MiddlewareOptions {
  readonly getRawInput: () => Promise<unknown>;
  readonly input: unknown;
  readonly next: (options?: NextOptions) => Promise<Result>;
}

/**
 * What tRPC makes of procedures. Its functions close over what they work with, so they are known by their text alone: it
 * is the same for all procedures, whatever a bundler made of it.
 */
const sample = (() => {
  const identity = (value: unknown) => value;
  const procedure = initTRPC
    .create({ isServer: true })
    .procedure.input(identity)
    .output(identity)
    .query(() => undefined) as unknown as AnyTRPCProcedure;
  const { middlewares } = procedure._def as unknown as Partial<Definition>;
  const [input, output, resolve] = (middlewares ?? []).map(String);
  return { procedure: String(procedure), input, output, resolve, length: middlewares?.length };
})();

function isKnown(procedure: AnyTRPCProcedure, definition: Definition): boolean {
  const { inputs, middlewares, resolver, experimental_caller: hasCaller, caller } = definition;
  return (
    sample.length === 3 &&
    // A caller of the router's own, or a wrapper, decides for itself what a call is.
    String(procedure) === sample.procedure &&
    !hasCaller &&
    caller === undefined &&
    Array.isArray(inputs) &&
    Array.isArray(middlewares) &&
    typeof resolver === 'function' &&
    String(middlewares.at(-1)) === sample.resolve
  );
}

/** One thing to be done for a call. */
interface Step {
  readonly run: (call: Call, value: unknown) => unknown;
  /** What is thrown in place of what it throws, or rejects with. */
  readonly wrap: ((cause: unknown) => unknown) | undefined;
}

/** One call as it goes on. */
class Call {
  readonly ctx: unknown;
  readonly getRawInput: () => unknown;
  readonly signal: AbortSignal | undefined;
  readonly batchIndex: number;
  input: unknown = undefined;

  constructor(ctx: unknown, getRawInput: () => unknown, signal: AbortSignal | undefined, batchIndex: number) {
    this.ctx = ctx;
    this.getRawInput = getRawInput;
    this.signal = signal;
    this.batchIndex = batchIndex;
  }
}

/**
 * The call of a procedure without middlewares of its own: nobody sees the steps between. Nothing is waited for that is
 * not a promise; then calls of one batch run one after the other, in its order, and not in turns.
 */
function directCall(path: string, definition: Definition): ProcedureCall | undefined {
  const { inputs, output, middlewares, resolver, type, meta } = definition;
  const before = middlewares.slice(0, -1).map((middleware) => ({
    kind: middleware._type,
    text: String(middleware),
  }));
  const read = before.filter(({ kind, text }) => kind === 'input' && text === sample.input);
  const checks = before.filter(({ kind, text }) => kind === 'output' && text === sample.output);
  if (read.length + checks.length !== before.length) return undefined;
  // A middleware may carry a parser of its own (`createInputMiddleware`), which nothing here could reach.
  if (read.length !== inputs.length || (checks.length > 0 && output === undefined)) return undefined;

  const steps: Step[] = [];
  for (const parser of inputs) {
    const parse = parseFunction(parser);
    steps.push(
      { run: readRaw, wrap: undefined },
      { run: (_call, value) => parse(value), wrap: badInput },
      { run: combine, wrap: undefined },
    );
  }
  steps.push({
    run: (call) =>
      resolver({
        path,
        getRawInput: async () => call.getRawInput(),
        ctx: call.ctx,
        type,
        signal: call.signal,
        batchIndex: call.batchIndex,
        input: call.input,
        meta,
        next: nothingNext,
      }),
    wrap: undefined,
  });
  for (const _ of checks) {
    const parse = parseFunction(output as Parser);
    steps.push({ run: (_call, value) => parse(value), wrap: badOutput });
  }

  return (ctx, getRawInput, signal, batchIndex = 0) => {
    const call = new Call(ctx, getRawInput, signal, batchIndex);
    let value: unknown;
    let at = 0;
    try {
      for (; at < steps.length; at += 1) {
        value = (steps[at] as Step).run(call, value);
        if (isThenable(value)) return goOn(steps, at, call, value);
      }
      return value;
    } catch (cause) {
      return new Failed(failure(steps[at], cause));
    }
  };
}

/** The rest of a call that has to wait, from the step on whose value is there soon. */
async function goOn(
  steps: readonly Step[],
  from: number,
  call: Call,
  pending: PromiseLike<unknown>,
): Promise<unknown> {
  let at = from;
  try {
    let value = await pending;
    for (at += 1; at < steps.length; at += 1) {
      const next = (steps[at] as Step).run(call, value);
      value = isThenable(next) ? await next : next;
    }
    return value;
  } catch (cause) {
    throw failure(steps[at], cause);
  }
}

const failure = (step: Step | undefined, cause: unknown) =>
  getTRPCErrorFromUnknown(step?.wrap ? step.wrap(cause) : cause);

const readRaw = (call: Call) => call.getRawInput();

const badInput = (cause: unknown) => new TRPCError({ code: 'BAD_REQUEST', cause });

const badOutput = (cause: unknown) =>
  new TRPCError({ message: 'Output validation failed', code: 'INTERNAL_SERVER_ERROR', cause });

/** Of several inputs that are objects, each adds to those before. */
function combine(call: Call, parsed: unknown): void {
  call.input = isObject(call.input) && isObject(parsed) ? { ...call.input, ...parsed } : parsed;
}

/** A resolver is given `next` too, and behind it there is nothing. */
const nothingNext = async () => ({
  ok: false,
  error: getTRPCErrorFromUnknown(new TypeError('middleware is not a function')),
  marker,
});

interface NextOptions {
  readonly ctx?: object;
  readonly input?: unknown;
  readonly getRawInput?: () => Promise<unknown>;
}

/**
 * tRPC's own chain, step for step: a middleware sees when `next()` returns, and in what turn things happen, so each step
 * waits where tRPC's waits. Only the options are written once per step, not copied from the last.
 */
function chainCall(path: string, { middlewares, type, meta }: Definition): TurnwiseCall {
  async function step(
    index: number,
    getRawInput: () => Promise<unknown>,
    ctx: unknown,
    signal: AbortSignal | undefined,
    batchIndex: number,
    input: unknown,
  ): Promise<Result | undefined> {
    try {
      // Behind the last there is none: calling it fails as it does in tRPC.
      const middleware = middlewares[index] as (options: unknown) => Promise<Result | undefined>;
      return await middleware({
        path,
        getRawInput,
        ctx,
        type,
        signal,
        batchIndex,
        input,
        meta,
        next: (options?: NextOptions) =>
          step(
            index + 1,
            options?.getRawInput ?? getRawInput,
            options?.ctx ? { ...(ctx as object), ...options.ctx } : ctx,
            signal,
            batchIndex,
            options && 'input' in options ? options.input : input,
          ),
      });
    } catch (cause) {
      const failed = { ok: false, error: getTRPCErrorFromUnknown(cause), marker } as const;
      return failed;
    }
  }

  return async (ctx, getRawInput, signal, batchIndex) => {
    const result = await step(0, getRawInput, ctx, signal, batchIndex, undefined);
    if (!result) {
      throw new TRPCError({
        code: 'INTERNAL_SERVER_ERROR',
        message: 'No result from middlewares - did you forget to `return next()`?',
      });
    }
    if (!result.ok) throw result.error;
    return result.data;
  };
}
