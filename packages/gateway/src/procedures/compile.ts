import { getTRPCErrorFromUnknown, TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { isObject } from '../http/isObject.ts';
import {
  Failure,
  marker,
  optionsOf,
  type Executable,
  type Result,
  type StageRun,
  type Step,
} from './execute.ts';
import { parseFunction, type Parser } from './parseFunction.ts';
import { definitionOf, isTrpcParser, isTrpcProcedure } from './trpcProcedure.ts';

/**
 * Compiles a procedure into the stages that `execute` runs.
 * @param sample a procedure for which the `selfTest` has passed
 * @returns `undefined` if the procedure must be called as tRPC exposes it: it has a caller of its own, or is wrapped
 */
export function compile(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): Executable['stages'] {
  if (!isTrpcProcedure(procedure, sample)) return undefined;
  const { resolver, ...definition } = definitionOf(procedure);
  const parsers = parsersOf(procedure, sample);
  const middlewares = definition.middlewares.slice(0, -1);
  const isDirect = parsers.size === middlewares.length;
  const stages: (readonly Step[])[] = [];
  let before: readonly Step[] = [];
  let behind: readonly Step[] = [];
  const close = (step: Step) => {
    stages.push([...before, step, ...behind]);
    before = [];
    behind = [];
  };

  for (const [at, middleware] of middlewares.entries()) {
    const parser = parsers.get(at);
    if (parser === undefined) close({ run: (run) => middleware(optionsOf(run)) });
    else if (middleware._type === 'input') before = [...before, ...inputSteps(parser)];
    else behind = isDirect ? [outputStep(parser)] : resultSteps(parser);
  }
  if (!isDirect) behind = [{ run: toResult }, ...behind];
  close({ run: (run) => resolver(optionsOf(run)) });
  if (isDirect) return stages;
  const [first = [], ...others] = stages;
  return [[...first, { run: unwrap }], ...others];
}

/** The parsers of the middlewares that tRPC makes of `.input()` and `.output()`, by the middleware's place. */
function parsersOf(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): ReadonlyMap<number, Parser> {
  const { inputs, output, middlewares } = definitionOf(procedure);
  const matched = (kind: 'input' | 'output', parsers: readonly Parser[]) => {
    const places = middlewares.flatMap((each, at) => (isTrpcParser(each, kind, sample) ? [at] : []));
    // `createInputMiddleware` makes some whose parser is not in `_def`: those run as the router's own middlewares do.
    return places.length === parsers.length
      ? places.map((at, index) => [at, parsers[index] as Parser] as const)
      : [];
  };
  return new Map([...matched('input', inputs), ...matched('output', output === undefined ? [] : [output])]);
}

function inputSteps(parser: Parser): readonly Step[] {
  return [
    { run: (run) => (run.getRawInput ? run.getRawInput() : run.inputs.read(run.index)) },
    { run: parseStep(parser), onError: badInput },
    { run: mergeInput },
  ];
}

function parseStep(parser: Parser): Step['run'] {
  const parse = parseFunction(parser);
  return (_run, value) => parse(value);
}

const badInput = (cause: unknown) => new TRPCError({ code: 'BAD_REQUEST', cause });

/** Of several inputs that are objects, each adds to those before. */
function mergeInput(run: StageRun, parsed: unknown): void {
  run.input = isObject(run.input) && isObject(parsed) ? { ...run.input, ...parsed } : parsed;
}

const outputStep = (parser: Parser): Step => ({ run: parseStep(parser), onError: badOutput });

/** What tRPC says of an output that is invalid: the procedure returned it. */
export const outputError = 'Output validation failed';

export const badOutput = (cause: unknown) =>
  new TRPCError({ message: outputError, code: 'INTERNAL_SERVER_ERROR', cause });

/** As `outputStep`, for the data of a middleware's result. */
function resultSteps(parser: Parser): readonly Step[] {
  const parse = parseFunction(parser);
  return [
    {
      run(run, result) {
        run.result = result as Result;
        return run.result.ok;
      },
    },
    {
      run: ({ result }, isOk) => (isOk && result?.ok ? parse(result.data) : undefined),
      onError: badOutput,
    },
    { run: ({ result }, data) => (result?.ok ? { ...result, data } : result) },
  ];
}

const toResult = ({ options }: StageRun, data: unknown): Result => ({
  marker,
  ok: true,
  data,
  ctx: options?.ctx,
});

/** What the outermost middleware returned, as the outcome of the call. */
function unwrap(_run: StageRun, value: unknown): unknown {
  const result = value as Result | undefined;
  if (!result) {
    return new Failure(
      new TRPCError({
        code: 'INTERNAL_SERVER_ERROR',
        message: 'No result from middlewares - did you forget to `return next()`?',
      }),
    );
  }
  return result.ok ? result.data : new Failure(getTRPCErrorFromUnknown(result.error));
}
