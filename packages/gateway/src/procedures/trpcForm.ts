import type { AnyTRPCProcedure } from '@trpc/server';
import type { Parser } from './parseFunction.ts';

export type Middleware = ((options: unknown) => unknown) & { readonly _type?: string };

/** What the gateway reads of a procedure (@trpc/server 11.25); `_def`'s type lacks half of it. */
export interface Definition {
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly meta: unknown;
  readonly inputs: readonly Parser[];
  readonly output?: Parser;
  readonly middlewares: readonly Middleware[];
  readonly resolver: (options: unknown) => unknown;
  readonly experimental_caller?: unknown;
  readonly caller?: unknown;
}

export const definitionOf = (procedure: AnyTRPCProcedure): Definition =>
  procedure._def as unknown as Definition;

/**
 * The form of what tRPC makes, read from a sample procedure with inputs and an output. It tells tRPC's own functions
 * from those that wrap them.
 */
export class TrpcForm {
  readonly #sample: AnyTRPCProcedure;
  readonly #forms: Readonly<Record<'input' | 'output' | 'resolver', string>>;

  constructor(sample: AnyTRPCProcedure) {
    this.#sample = sample;
    const { middlewares } = definitionOf(sample);
    const ofType = (type: string) => formOf(middlewares.find(({ _type }) => _type === type));
    this.#forms = {
      input: ofType('input'),
      output: ofType('output'),
      resolver: formOf(middlewares.at(-1)),
    };
  }

  /** Whether a procedure is the function that tRPC makes, and has no caller of its own (`experimental_caller`). */
  isProcedure(procedure: AnyTRPCProcedure): boolean {
    const { inputs, middlewares, resolver, experimental_caller: hasCaller, caller } = definitionOf(procedure);
    return (
      Array.isArray(inputs) &&
      Array.isArray(middlewares) &&
      typeof resolver === 'function' &&
      !hasCaller &&
      caller === undefined &&
      formOf(middlewares.at(-1)) === this.#forms.resolver &&
      formOf(procedure) === formOf(this.#sample) &&
      framesOf(procedure) === framesOf(this.#sample)
    );
  }

  /** Whether a middleware is what tRPC makes of `.input()` or `.output()`. */
  isParser(middleware: Middleware, kind: 'input' | 'output'): boolean {
    return middleware._type === kind && formOf(middleware) === this.#forms[kind];
  }
}

/** What a wrapper hardly copies: the name, the number of parameters, the properties, and whether it is `async`. */
function formOf(value: unknown): string {
  if (typeof value !== 'function') return typeof value;
  const { constructor } = value;
  return [constructor.name, value.name, value.length, ...Reflect.ownKeys(value).map(String)].join();
}

/**
 * How many functions run when a procedure is called until it reads its options. A wrapper or a `Proxy` adds one. Reading
 * fails, so tRPC runs nothing of the router.
 */
function framesOf(procedure: AnyTRPCProcedure): number {
  const { stackTraceLimit } = Error;
  let frames = 0;
  const options = new Proxy({ getRawInput: undefined } as never, {
    ownKeys() {
      Error.stackTraceLimit = 100;
      const error = new Error('Options are not readable');
      Error.stackTraceLimit = stackTraceLimit;
      frames = String(error.stack).split('\n').length;
      throw error;
    },
  });
  try {
    Promise.resolve(procedure(options)).catch(() => {});
  } catch {
    // Only a wrapper throws.
  }
  return frames;
}
