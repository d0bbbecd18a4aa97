import {
  TRPCError,
  type TRPC_ERROR_CODE_KEY,
  type TRPCDefaultErrorShape,
  type TRPCErrorShape,
} from '@trpc/server';
import { formatValue } from '../http/formatValue.ts';
import type { z } from 'zod/v4';
import { isZod } from './isZod.ts';
import { codeMessage } from './clientError.ts';
import { isReservedCode, trpcCodeOf } from './errorCodes.ts';

/** What a declared error is, by its code. */
export interface ErrorDefinition {
  /** The HTTP status, over REST and over tRPC: 400 to 599. */
  readonly status: number;
  /** The message of an error that is thrown without one. Default: the code as text, such as "Out of stock". */
  readonly message?: string;
  /** What the error carries. Clients receive what the schema returns, and nothing else. */
  readonly data?: z.ZodType;
}

/** Definitions by code. */
export type ErrorDefinitions = Readonly<Record<string, ErrorDefinition>>;

/** The shape of a declared error over tRPC: `data.code`, `data.httpStatus` and `data.data` are its own. */
export type DeclaredErrorShape<Code extends string, Definition extends ErrorDefinition> = TRPCErrorShape<
  Definition extends { readonly data: infer Schema extends z.ZodType }
    ? { code: Code; httpStatus: Definition['status']; path?: string; stack?: string; data: z.output<Schema> }
    : { code: Code; httpStatus: Definition['status']; path?: string; stack?: string }
>;

interface ThrowOptions {
  /** For the client. Default: the definition's. */
  readonly message?: string;
  /** For logs: clients never see it. */
  readonly cause?: unknown;
}

type ErrorConstructor<Definition extends ErrorDefinition> = Definition extends {
  readonly data: infer Schema extends z.ZodType;
}
  ? (options: ThrowOptions & { readonly data: z.input<Schema> }) => DeclaredError
  : (options?: ThrowOptions) => DeclaredError;

/** A function for each code that makes the error; called itself, it is the formatter that tRPC's `.errors()` takes. */
export type DeclaredErrors<Definitions extends ErrorDefinitions> = {
  readonly [Code in keyof Definitions]: ErrorConstructor<Definitions[Code]>;
} & ((options: {
  readonly error: TRPCError;
  readonly shape: TRPCDefaultErrorShape;
}) =>
  | { [Code in keyof Definitions & string]: DeclaredErrorShape<Code, Definitions[Code]> }[keyof Definitions &
      string]
  | undefined);

/** Codes that are not tRPC's: a client that narrows on one must have this error, and no other. */
type OwnCodes<Definitions> = {
  readonly [Code in keyof Definitions]: Code extends TRPC_ERROR_CODE_KEY
    ? `${Code} is one of tRPC's codes: choose another, such as PET_${Code}`
    : Code extends Uppercase<Code & string>
      ? ErrorDefinition
      : 'A code has upper-case letters, digits and underscores, such as OUT_OF_STOCK';
};

/**
 * Declares errors that procedures throw, with their statuses and data.
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
 * A procedure's errors are those of its `.errors(…)`: tRPC's clients narrow on `error.data.code`, REST clients on `code`.
 * Without `.errors(…)` the same error is answered as a `TRPCError` of its status: no code of its own and no data.
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
  const format = ({ error, shape }: { error: TRPCError; shape: TRPCDefaultErrorShape }) => {
    if (error instanceof DeclaredError && declared[error.declaredCode] === error.definition) {
      return { ...shape, data: { ...shape.data, ...error.shapeData() } };
    }
    (error as DefinitionReader)[definitionReader]?.(declared);
    return undefined;
  };
  return Object.assign(format, Object.fromEntries(constructors)) as unknown as DeclaredErrors<Definitions>;
}

/**
 * A member of an error that the formatters of `declareErrors` call with their definitions: nothing else of a procedure
 * has them. A registered symbol, so that `@petstore/typegen` reads them without this package.
 */
export const definitionReader = Symbol.for('@petstore/gateway/definitionReader');
type DefinitionReader = TRPCError & { readonly [definitionReader]?: (definitions: ErrorDefinitions) => void };

/** An error that `declareErrors` made. Its `code` is tRPC's for the status, and its own is `declaredCode`. */
export class DeclaredError extends TRPCError {
  readonly declaredCode: string;
  readonly definition: ErrorDefinition;
  /** What the schema of the definition returned. */
  readonly data: unknown;

  /** @throws {TypeError} where the data does not fit its schema */
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
    this.data = parsedData(declaredCode, definition, data);
  }

  /** What it adds to the `data` of tRPC's shape. */
  shapeData(): object {
    const { data, declaredCode: code, definition } = this;
    return { code, httpStatus: definition.status, ...(data !== undefined && { data }) };
  }
}

function parsedData(code: string, { data: schema }: ErrorDefinition, data: unknown): unknown {
  if (schema === undefined) return undefined;
  try {
    return schema.parse(data);
  } catch (cause) {
    throw new TypeError(`The data of the error ${code} does not fit its schema: ${String(cause)}`, { cause });
  }
}

/** @throws {TypeError} */
export function checkDefinition(code: string, { status, data }: ErrorDefinition): void {
  if (isReservedCode(code)) {
    throw new TypeError(
      `The declared error ${code} has a code of tRPC or of the gateway. Choose another, such as PET_${code}.`,
    );
  }
  if (!/^[A-Z][A-Z0-9_]*$/.test(code)) {
    throw new TypeError(
      `The code of the declared error "${code}" is invalid. Use upper-case letters, digits and underscores, such as OUT_OF_STOCK.`,
    );
  }
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new TypeError(
      `The declared error ${code} has the status ${status}. Use an HTTP status from 400 to 599.`,
    );
  }
  if (data !== undefined && !isZod(data)) {
    throw new TypeError(
      `The declared error ${code} has data that is ${formatValue(data)}. Use a schema of zod, such as z.object({ … }).`,
    );
  }
}
