import type { AnyTRPCProcedure } from '@trpc/server';
import type { Parser } from './parseFunction.ts';

export type Middleware = ((options: unknown) => unknown) & { readonly _type?: string };

/** What the gateway reads of a procedure (@trpc/server 11.25); the type of `_def` lacks half of it. */
export interface Definition {
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly meta: unknown;
  readonly inputs: readonly Parser[];
  readonly output?: Parser;
  /** The last one runs the resolver. */
  readonly middlewares: readonly Middleware[];
  readonly resolver: (options: unknown) => unknown;
  readonly caller?: unknown;
}

export const definitionOf = (procedure: AnyTRPCProcedure): Definition =>
  procedure._def as unknown as Definition;

/**
 * Whether a procedure is the function that tRPC makes, as `sample` is: not wrapped, and without a caller of its own
 * (`experimental_caller`).
 */
export function isTrpcProcedure(procedure: AnyTRPCProcedure, sample: AnyTRPCProcedure): boolean {
  const { middlewares, caller } = definitionOf(procedure);
  if (caller !== undefined || formOf(procedure) !== formOf(sample)) return false;
  if (formOf(middlewares.at(-1)) !== formOf(definitionOf(sample).middlewares.at(-1))) return false;
  const frames = framesOf(procedure);
  return frames > 0 && frames === framesOf(sample);
}

/** Whether a middleware is what tRPC makes of `.input()` or `.output()`. */
export function isTrpcParser(
  middleware: Middleware,
  kind: 'input' | 'output',
  sample: AnyTRPCProcedure,
): boolean {
  const own = definitionOf(sample).middlewares.find(({ _type }) => _type === kind);
  return middleware._type === kind && formOf(middleware) === formOf(own);
}

/** What a wrapper rarely copies: whether it is `async`, its name, how many parameters it has, its properties. */
function formOf(value: unknown): string {
  if (typeof value !== 'function') return typeof value;
  return [value.constructor.name, value.name, value.length, ...Reflect.ownKeys(value).map(String)].join();
}

/**
 * How many functions are on the stack when a procedure reads its options: a wrapper or a `Proxy` adds one. Reading them
 * throws, so that no step of the procedure runs.
 */
function framesOf(procedure: AnyTRPCProcedure): number {
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
    // A wrapper throws.
  }
  return frames;
}
