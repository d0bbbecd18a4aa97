import { TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { failureOf, marker, type Executable, type MiddlewareResult, type CallStep } from './execute.ts';
import { boundIssues, inputFailure } from './inputError.ts';
import { parseFunction, type Parser } from './parseFunction.ts';

type Middleware = ((options: unknown) => unknown) & { readonly _type?: string };

/**
 * The parts of a procedure's `_def` that the gateway reads (@trpc/server 11.25). tRPC's type of `_def` lacks half of
 * them.
 */
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
  const isSingle = parsers.size === middlewares.length;
  const stages: (readonly CallStep[])[] = [];
  let before: readonly CallStep[] = [];
  let output: Parser | undefined;

  for (const [at, middleware] of middlewares.entries()) {
    const parser = parsers.get(at);
    if (parser === undefined) {
      stages.push([...before, { kind: 'call', call: middleware }, ...(output ? [resultStep(output)] : [])]);
      before = [];
      output = undefined;
    } else if (middleware._type === 'input') before = [...before, ...inputSteps(parser)];
    else output = parser;
  }
  const resolve: CallStep = { kind: 'call', call: resolver };
  stages.push([...before, resolve, ...(output ? [outputStep(output)] : []), ...(isSingle ? [] : [toResult])]);
  if (isSingle) return stages;
  const [first = [], ...others] = stages;
  return [[...first, resultToOutcome], ...others];
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

const inputSteps = (parser: Parser): readonly CallStep[] => [
  { kind: 'read' },
  { kind: 'parse', parse: parseFunction(parser), toError: inputFailure },
  { kind: 'merge' },
];

const outputStep = (parser: Parser): CallStep => ({
  kind: 'parse',
  parse: parseFunction(parser),
  toError: invalidOutput,
});

/** tRPC's message for an invalid output. */
export const outputErrorMessage = 'Output validation failed';

function invalidOutput(cause: unknown): TRPCError {
  boundIssues(cause);
  return new TRPCError({ message: outputErrorMessage, code: 'INTERNAL_SERVER_ERROR', cause });
}

/** Like `outputStep`, for the data of a middleware's result. */
function resultStep(parser: Parser): CallStep {
  const parse = parseFunction(parser);
  return {
    kind: 'convert',
    async convert(value) {
      const result = value as MiddlewareResult;
      if (!result.ok) return result;
      try {
        return { ...result, data: await parse(result.data) };
      } catch (cause) {
        throw invalidOutput(cause);
      }
    },
  };
}

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

/**
 * Whether a procedure is the function that tRPC creates, like `sample`: not wrapped, and without `experimental_caller`.
 */
function isTrpcProcedure(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): boolean {
  const { middlewares, caller } = readDefinition(procedure);
  if (caller !== undefined || functionForm(procedure) !== functionForm(sample)) return false;
  if (functionForm(middlewares.at(-1)) !== functionForm(readDefinition(sample).middlewares.at(-1)))
    return false;
  const frames = countFrames(procedure);
  return frames > 0 && frames === countFrames(sample);
}

/** Whether a middleware is one that tRPC creates for `.input()` or `.output()`. */
function isTrpcParser(middleware: Middleware, kind: 'input' | 'output', sample: AnyTRPCProcedure): boolean {
  const sampleParser = readDefinition(sample).middlewares.find(({ _type }) => _type === kind);
  return middleware._type === kind && functionForm(middleware) === functionForm(sampleParser);
}

/**
 * Describes a function by features that a wrapper rarely copies: `async`, name, number of parameters, property names.
 */
function functionForm(value: unknown): string {
  if (typeof value !== 'function') return typeof value;
  return [value.constructor.name, value.name, value.length, ...Reflect.ownKeys(value).map(String)].join();
}

/**
 * Counts the stack frames when a procedure reads its options, to detect wrappers and proxies, which add one. Reading
 * the options throws, so no step of the procedure runs.
 */
function countFrames(procedure: AnyTRPCProcedure): number {
  let frames = 0;
  const options = new Proxy({ getRawInput: undefined } as never, {
    ownKeys() {
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 100;
      const error = new Error('These options cannot be read');
      Error.stackTraceLimit = stackTraceLimit;
      frames = String(error.stack).split('\n').length;
      throw error;
    },
  });
  try {
    Promise.resolve(procedure(options)).catch(() => {});
  } catch {
    // Thrown by a synchronous wrapper.
  }
  return frames;
}
