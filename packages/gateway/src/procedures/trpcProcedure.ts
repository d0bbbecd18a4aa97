import type { AnyTRPCProcedure } from '@trpc/server';
import type { Parser } from './parseFunction.ts';

export type Middleware = ((options: unknown) => unknown) & { readonly _type?: string };

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
 * Whether a procedure is the function that tRPC creates, like `sample`: not wrapped, and without `experimental_caller`.
 */
export function isTrpcProcedure(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): boolean {
  const { middlewares, caller } = readDefinition(procedure);
  if (caller !== undefined || functionForm(procedure) !== functionForm(sample)) return false;
  if (functionForm(middlewares.at(-1)) !== functionForm(readDefinition(sample).middlewares.at(-1)))
    return false;
  const frames = countFrames(procedure);
  return frames > 0 && frames === countFrames(sample);
}

/** Whether a middleware is one that tRPC creates for `.input()` or `.output()`. */
export function isTrpcParser(
  middleware: Middleware,
  kind: 'input' | 'output',
  sample: AnyTRPCProcedure,
): boolean {
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
