import { TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { ignoreRejections } from '../http/asyncValues.ts';
import { mayBeAsync } from './asyncOutput.ts';
import { boundTexts } from './boundTexts.ts';
import { failureOf, marker, type Executable, type MiddlewareResult, type CallStep } from './execute.ts';
import { boundIssues, inputFailure } from './inputError.ts';
import { parseFunction, type Parser } from './parseFunction.ts';

type Middleware = ((options: unknown) => unknown) & { readonly _type?: string };

/** The parts of a procedure's `_def` that the gateway reads (@trpc/server 11.25). tRPC's type lacks half of them. */
export interface ProcedureDefinition {
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly meta: unknown;
  readonly inputs: readonly Parser[];
  readonly output?: Parser;
  /** The last one runs the resolver. */
  readonly middlewares: readonly Middleware[];
  readonly resolver: (options: unknown) => unknown;
  readonly caller?: unknown;
}

export const readDefinition = (procedure: AnyTRPCProcedure): ProcedureDefinition =>
  procedure._def as unknown as ProcedureDefinition;

/** The stages of a procedure; `undefined` if tRPC must call it (wrapped, `experimental_caller`). `sample` passed `selfTest`. */
export function compile(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): Executable['stages'] {
  if (!isTrpcProcedure(procedure, sample)) return undefined;
  const { resolver, ...definition } = readDefinition(procedure);
  const parsers = mapParsers(procedure, sample);
  const middlewares = definition.middlewares.slice(0, -1);
  const lastOwn = middlewares.findLastIndex((_, at) => !parsers.has(at));
  const stages: (readonly CallStep[])[] = [];
  let before: CallStep[] = [];
  let after: readonly CallStep[] = [];

  for (const [at, middleware] of middlewares.entries()) {
    const parser = parsers.get(at);
    if (parser && middleware._type === 'input') {
      const parse = parseStep(inputFailure, () => parseFunction(parser, boundTexts));
      before.push({ kind: 'read' }, parse, { kind: 'merge' });
    } else if (parser && at > lastOwn) after = [parseStep(invalidOutput, () => parseFunction(parser))];
    else {
      // A middleware of the router, or tRPC's own for an output that is parsed before one of these.
      stages.push([...before, { kind: 'call', call: middleware }]);
      before = [];
    }
  }
  const isSingle = stages.length === 0;
  const { output, type } = definition;
  // Steps after the resolver may take longer than a promise in its output takes to reject.
  const hasStepsAfter = !isSingle || after.length > 0;
  const ignoring =
    hasStepsAfter && type !== 'subscription' && (after.length === 0 || mayBeAsync(output))
      ? [ignoreRejectionsOfOutput]
      : [];
  stages.push([
    ...before,
    { kind: 'call', call: resolver },
    ...ignoring,
    ...after,
    ...(isSingle ? [] : [toResult]),
  ]);
  if (isSingle) return stages;
  const [first = [], ...others] = stages;
  return [[...first, resultToOutcome], ...others];
}

/** Maps the index of each middleware that tRPC created for `.input()` or `.output()` to its parser. */
function mapParsers(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): ReadonlyMap<number, Parser> {
  const { inputs, output, middlewares } = readDefinition(procedure);
  const parsers = new Map<number, Parser>();
  const ofKind = { input: inputs, output: output === undefined ? [] : [output] };
  for (const [kind, expected] of Object.entries(ofKind)) {
    const ofTrpc = readDefinition(sample).middlewares.find(({ _type }) => _type === kind);
    const places = middlewares.flatMap((each, at) =>
      each._type === kind && hasSameSource(each, ofTrpc) ? [at] : [],
    );
    // Parsers of middlewares by `createInputMiddleware` are not in `_def`. They run like the router's own middlewares.
    if (places.length !== expected.length) continue;
    for (const [index, at] of places.entries()) parsers.set(at, expected[index] as Parser);
  }
  return parsers;
}

/** Creates a step whose first call prepares the parser, which then takes its place: a function less for each call. */
function parseStep(toError: (cause: unknown) => TRPCError, prepare: () => (value: unknown) => unknown) {
  const step = {
    kind: 'parse' as const,
    toError,
    parse(value: unknown): unknown {
      const parse = prepare();
      step.parse = parse;
      return parse(value);
    },
  };
  return step;
}

/** tRPC's message for an invalid output. */
export const outputErrorMessage = 'Output validation failed';

function invalidOutput(cause: unknown): TRPCError {
  boundIssues(cause);
  return new TRPCError({ message: outputErrorMessage, code: 'INTERNAL_SERVER_ERROR', cause });
}

const ignoreRejectionsOfOutput: CallStep = {
  kind: 'convert',
  convert(output) {
    ignoreRejections(output);
    return output;
  },
};

/** Converts the output of the resolver to the result of the innermost `next()`. */
const toResult: CallStep = {
  kind: 'convert',
  convert: (data, options): MiddlewareResult => ({ marker, ok: true, data, ctx: options?.ctx }),
};

/** Converts the result of the outermost middleware to the outcome of the call. */
const resultToOutcome: CallStep = {
  kind: 'convert',
  convert(value) {
    const result = value as MiddlewareResult | undefined;
    if (!result) {
      throw new TRPCError({
        code: 'INTERNAL_SERVER_ERROR',
        message: 'No result from middlewares - did you forget to `return next()`?',
      });
    }
    return result.ok ? result.data : failureOf(result.error);
  },
};

/** Whether a procedure is the function that tRPC creates, like `sample`: not wrapped, no `experimental_caller`. */
function isTrpcProcedure(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): boolean {
  const { middlewares, caller } = readDefinition(procedure);
  const resolverOfTrpc = readDefinition(sample).middlewares.at(-1);
  return (
    caller === undefined &&
    hasSameSource(procedure, sample) &&
    hasSameSource(middlewares.at(-1), resolverOfTrpc)
  );
}

/** Whether two functions have the same source text. A `Proxy` and a bound function have `[native code]`. */
const hasSameSource = (one: unknown, other: unknown): boolean =>
  typeof one === 'function' &&
  typeof other === 'function' &&
  Function.prototype.toString.call(one) === Function.prototype.toString.call(other);
