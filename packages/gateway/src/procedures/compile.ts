import { TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { isObject } from '../http/isObject.ts';
import { boundIssues } from './boundedIssues.ts';
import {
  Failure,
  failureOf,
  marker,
  createStepOptions,
  type Executable,
  type MiddlewareResult,
  type StageRun,
  type CallStep,
} from './execute.ts';
import { inputFailure } from './inputError.ts';
import { parseFunction, type Parser } from './parseFunction.ts';
import { readDefinition, isTrpcParser, isTrpcProcedure } from './trpcProcedure.ts';

/**
 * Compiles a procedure into the stages that `execute` runs.
 * @param sample a procedure that has passed the `selfTest`
 * @returns `undefined` if the procedure must be called through tRPC: it has an `experimental_caller` or is wrapped
 */
export function compile(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): Executable['stages'] {
  if (!isTrpcProcedure(procedure, sample)) return undefined;
  const { resolver, ...definition } = readDefinition(procedure);
  const parsers = mapParsers(procedure, sample);
  const middlewares = definition.middlewares.slice(0, -1);
  const hasOnlyParsers = parsers.size === middlewares.length;
  const stages: (readonly CallStep[])[] = [];
  let before: readonly CallStep[] = [];
  let after: readonly CallStep[] = [];
  const endStage = (step: CallStep) => {
    stages.push([...before, step, ...after]);
    before = [];
    after = [];
  };

  for (const [at, middleware] of middlewares.entries()) {
    const parser = parsers.get(at);
    if (parser === undefined) endStage({ run: (run) => middleware(createStepOptions(run)) });
    else if (middleware._type === 'input') before = [...before, ...inputSteps(parser)];
    else after = hasOnlyParsers ? [outputStep(parser)] : resultSteps(parser);
  }
  if (!hasOnlyParsers) after = [{ run: toResult }, ...after];
  endStage({ run: (run) => resolver(createStepOptions(run)) });
  if (hasOnlyParsers) return stages;
  const [first = [], ...others] = stages;
  return [[...first, { run: resultToOutcome }], ...others];
}

/** Maps the index of each middleware that tRPC created for `.input()` or `.output()` to its parser. */
function mapParsers(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): ReadonlyMap<number, Parser> {
  const { inputs, output, middlewares } = readDefinition(procedure);
  const matchParsers = (kind: 'input' | 'output', parsers: readonly Parser[]) => {
    const places = middlewares.flatMap((each, at) => (isTrpcParser(each, kind, sample) ? [at] : []));
    // Parsers of middlewares by `createInputMiddleware` are not in `_def`. They run like the router's own middlewares.
    return places.length === parsers.length
      ? places.map((at, index) => [at, parsers[index] as Parser] as const)
      : [];
  };
  return new Map([
    ...matchParsers('input', inputs),
    ...matchParsers('output', output === undefined ? [] : [output]),
  ]);
}

function inputSteps(parser: Parser): readonly CallStep[] {
  return [
    { run: (run) => (run.getRawInput ? run.getRawInput() : run.inputs.read(run.index)) },
    { run: parseStep(parser), onError: inputFailure },
    { run: mergeInput },
  ];
}

function parseStep(parser: Parser): CallStep['run'] {
  const parse = parseFunction(parser);
  return (_run, value) => parse(value);
}

/** Merges the parsed input with the earlier ones if both are objects; otherwise replaces them. */
function mergeInput(run: StageRun, parsed: unknown): void {
  run.input = isObject(run.input) && isObject(parsed) ? { ...run.input, ...parsed } : parsed;
}

const outputStep = (parser: Parser): CallStep => ({ run: parseStep(parser), onError: invalidOutput });

/** tRPC's message for an invalid output. */
export const outputErrorMessage = 'Output validation failed';

export function invalidOutput(cause: unknown): TRPCError {
  boundIssues(cause);
  return new TRPCError({ message: outputErrorMessage, code: 'INTERNAL_SERVER_ERROR', cause });
}

/** Like `outputStep`, for the data of a middleware's result. */
function resultSteps(parser: Parser): readonly CallStep[] {
  const parse = parseFunction(parser);
  return [
    {
      run(run, result) {
        run.result = result as MiddlewareResult;
        return run.result.ok;
      },
    },
    {
      run: ({ result }, isOk) => (isOk && result?.ok ? parse(result.data) : undefined),
      onError: invalidOutput,
    },
    { run: ({ result }, data) => (result?.ok ? { ...result, data } : result) },
  ];
}

const toResult = ({ options }: StageRun, data: unknown): MiddlewareResult => ({
  marker,
  ok: true,
  data,
  ctx: options?.ctx,
});

/** Converts the result of the outermost middleware to the outcome of the call. */
function resultToOutcome(_run: StageRun, value: unknown): unknown {
  const result = value as MiddlewareResult | undefined;
  if (!result) {
    return new Failure(
      new TRPCError({
        code: 'INTERNAL_SERVER_ERROR',
        message: 'No result from middlewares - did you forget to `return next()`?',
      }),
    );
  }
  return result.ok ? result.data : failureOf(result.error);
}
