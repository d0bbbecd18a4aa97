import { TRPCError } from '@trpc/server';
import type { TRPC_ERROR_CODE_KEY, TRPCErrorShape } from '@trpc/server/rpc';
// A public name since @trpc/server 11.4.
import type { DefaultErrorShape } from '@trpc/server/unstable-core-do-not-import';
import { parse, type $ZodType } from 'zod/v4/core';
import { isZod, type ZodSchema } from '../schemas/zodSchema.ts';
import { codeMessage, isErrorStatus, isReservedCode, trpcCodeOf } from './errorCodes.ts';

/** The definition of a declared error. */
export interface ErrorDefinition {
  /** The HTTP status, 400 to 599, over REST and tRPC. */
  readonly status: number;
  /** The message of an error that is thrown without one. Default: the code as text, such as "Out of stock". */
  readonly message?: string;
  /** The schema of the error's data. Clients receive only the output of this schema. */
  readonly data?: ZodSchema;
}

/** Definitions of errors, by code. */
export type ErrorDefinitions = Readonly<Record<string, ErrorDefinition>>;

/** The shape of a declared error over tRPC, with its own `data.code`, `data.httpStatus` and `data.data`. */
export type DeclaredErrorShape<Code extends string, Definition extends ErrorDefinition> = TRPCErrorShape<
  Definition extends { readonly data: infer Schema extends ZodSchema }
    ? {
        code: Code;
        httpStatus: Definition['status'];
        path?: string;
        stack?: string;
        data: Schema['_zod']['output'];
      }
    : { code: Code; httpStatus: Definition['status']; path?: string; stack?: string }
>;

interface ThrowOptions {
  /** Sent to the client. Default: the definition's message. */
  readonly message?: string;
  /** The underlying error, for logs. It is never sent to clients. */
  readonly cause?: unknown;
}

type ErrorConstructor<Definition extends ErrorDefinition> = Definition extends {
  readonly data: infer Schema extends ZodSchema;
}
  ? (options: ThrowOptions & { readonly data: Schema['_zod']['input'] }) => DeclaredError
  : (options?: ThrowOptions) => DeclaredError;

/** The result of `declareErrors`: a function per code that creates its error, and a formatter for tRPC's `.errors()`. */
export type DeclaredErrors<Definitions extends ErrorDefinitions> = {
  readonly [Code in keyof Definitions]: ErrorConstructor<Definitions[Code]>;
} & ((options: {
  readonly error: TRPCError;
  readonly shape: DefaultErrorShape;
}) =>
  | { [Code in keyof Definitions & string]: DeclaredErrorShape<Code, Definitions[Code]> }[keyof Definitions &
      string]
  | undefined);

/** Rejects tRPC's own codes at compile time: a client that narrows on a declared code must not match another error. */
type OwnCodes<Definitions> = {
  readonly [Code in keyof Definitions]: Code extends TRPC_ERROR_CODE_KEY
    ? `${Code} is one of tRPC's codes: choose another, such as PET_${Code}`
    : Code extends Uppercase<Code & string>
      ? ErrorDefinition
      : 'A code has upper-case letters, digits and underscores, such as OUT_OF_STOCK';
};

/**
 * Declares errors that procedures throw, with their status, message and data.
 *
 * ```ts
 * const shopErrors = declareErrors({
 *   OUT_OF_STOCK: { status: 409, message: 'Too few are left.', data: z.object({ left: z.int() }) },
 * });
 * const order = t.procedure.errors(shopErrors).mutation(() => {
 *   throw shopErrors.OUT_OF_STOCK({ data: { left: 2 } });
 * });
 * ```
 *
 * tRPC clients narrow on `error.data.code`, REST clients on `code`. A procedure without `.errors(…)` sends the same
 * error as a `TRPCError` with the code of its status: without the declared code and data.
 * @throws {TypeError} for an invalid code or status
 */
export function declareErrors<const Definitions extends ErrorDefinitions>(
  definitions: Definitions & OwnCodes<Definitions>,
): DeclaredErrors<Definitions> {
  const declared: ErrorDefinitions = definitions;
  const constructors = Object.entries(declared).map(([code, definition]) => {
    checkDefinition(code, definition);
    return [
      code,
      (options?: ThrowOptions & { readonly data?: unknown }) => new DeclaredError(code, definition, options),
    ] as const;
  });
  const format = ({ error, shape }: { error: TRPCError; shape: DefaultErrorShape }) => {
    if (error instanceof DeclaredError && declared[error.declaredCode] === error.definition) {
      return declaredShape(error, shape) as never;
    }
    (error as DefinitionReader)[definitionReader]?.(declared);
    return undefined;
  };
  return Object.assign(format, Object.fromEntries(constructors)) as unknown as DeclaredErrors<Definitions>;
}

/** Adds what tRPC clients receive of a declared error to its shape. */
export function declaredShape(
  { data, declaredCode: code, definition }: DeclaredError,
  shape: TRPCErrorShape,
): TRPCErrorShape {
  const own = { code, httpStatus: definition.status, ...(data !== undefined && { data }) };
  return { ...shape, data: { ...shape.data, ...own } };
}

/**
 * A method of an error that the formatters of `declareErrors` call with their definitions: a procedure does not expose
 * them otherwise. A registered symbol, so that `trpc-gateway-typegen` reads those of another copy of this package too.
 */
export const definitionReader = Symbol.for('trpc-gateway/definitionReader');
type DefinitionReader = TRPCError & { readonly [definitionReader]?: (definitions: ErrorDefinitions) => void };

/** An error created by `declareErrors`. `declaredCode` is the declared code, `code` is tRPC's code for its status. */
export class DeclaredError extends TRPCError {
  readonly declaredCode: string;
  readonly definition: ErrorDefinition;
  /** The output of the definition's schema. */
  readonly data: unknown;

  /** @throws {TypeError} if the data does not match its schema */
  constructor(
    declaredCode: string,
    definition: ErrorDefinition,
    { message, cause, data }: ThrowOptions & { readonly data?: unknown } = {},
  ) {
    super({
      code: trpcCodeOf(definition.status),
      message: message ?? definition.message ?? codeMessage(declaredCode),
      cause,
    });
    this.declaredCode = declaredCode;
    this.definition = definition;
    this.data = parseData(declaredCode, definition, data);
  }
}

function parseData(code: string, { data: schema }: ErrorDefinition, data: unknown): unknown {
  if (schema === undefined) return undefined;
  try {
    return parse(schema as $ZodType, data);
  } catch (cause) {
    throw new TypeError(`The data of the error ${code} does not match its schema: ${String(cause)}`, {
      cause,
    });
  }
}

/** @throws {TypeError} for a reserved or malformed code, an invalid status, and data that is not a zod schema */
function checkDefinition(code: string, { status, data }: ErrorDefinition): void {
  if (isReservedCode(code) || !/^[A-Z][A-Z0-9_]*$/.test(code)) {
    throw new TypeError(
      `The code of the declared error "${code}" is reserved or invalid. Use upper-case letters, digits and underscores, such as OUT_OF_STOCK, but no code of tRPC.`,
    );
  }
  if (isErrorStatus(status) && (data === undefined || isZod(data))) return;
  throw new TypeError(
    `The declared error ${code} needs an HTTP status from 400 to 599, and its data, if any, must be a schema of zod, such as z.object({ … }).`,
  );
}
