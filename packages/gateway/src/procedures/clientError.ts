import { getErrorShape, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { ignoreRejection } from '../http/hooks.ts';
import { isThenable } from '../http/maybePromise.ts';
import { DeclaredError, type ErrorDefinitions } from './declareErrors.ts';
import { codeMessage, isErrorStatus, isReservedCode, trpcCodeOf } from './errorCodes.ts';
import { issuesOf } from './inputError.ts';

/** Whether a value is a TRPCError, also of another copy of tRPC: an app in CommonJS and the gateway have one each. */
export const isTrpcError = (value: unknown): value is TRPCError =>
  value instanceof TRPCError || (value instanceof Error && value.name === 'TRPCError');

/** The errors that the application threw, by the error to which `mapError` has mapped each. */
const originals = new WeakMap<TRPCError, TRPCError>();

/**
 * Returns what clients receive instead of an error: its message is always sent, and one of `declareErrors` counts as
 * declared by every procedure. It is a view of what `mapError` has returned, which may be one constant for many errors.
 */
export function mappedError(returned: TRPCError, original: TRPCError): TRPCError {
  // The message of an error that `mapError` keeps may be that of a driver.
  if (returned === original && !(returned instanceof DeclaredError)) return original;
  const mapped = new Proxy(Object.create(returned) as TRPCError, {
    get(own, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name) as unknown;
      // Getters and methods of a subclass may read private fields, which only `returned` has.
      const value: unknown = Reflect.get(returned, name);
      return typeof value === 'function' && name !== 'constructor' ? value.bind(returned) : value;
    },
  });
  originals.set(mapped, original);
  return mapped;
}

export const isMapped = (error: TRPCError): boolean => originals.has(error);

/** Returns the error of the application, which hooks and records have. */
export const originalOf = (error: TRPCError): TRPCError => originals.get(error) ?? error;

export const isMappedDeclared = (error: TRPCError): error is DeclaredError =>
  error instanceof DeclaredError && isMapped(error);

/**
 * Returns what clients receive of an error that a formatter of `.errors()` has shaped or `mapError` has declared: all
 * of a declared error, else the status and the message of the shape. `undefined` for others.
 */
export function formattedError(error: TRPCError, definitions: ErrorDefinitions | undefined) {
  const shape = definitions && formattedShape(error);
  const isOwn =
    shape && error instanceof DeclaredError && definitions[error.declaredCode] === error.definition;
  if (isOwn || isMappedDeclared(error)) {
    const { data, declaredCode: code, definition, message } = error;
    return { code, message, status: definition.status, isDeclared: true, data };
  }
  if (shape === undefined) return undefined;
  const { message } = shape;
  const status = formattedStatus(error, shape);
  const hasOwnStatus = status === getHTTPStatusCodeFromError(error);
  const isReworded = message !== error.message;
  if (hasOwnStatus && !isReworded) return undefined;
  const code = hasOwnStatus ? error.code : trpcCodeOf(status);
  // A message that the formatter did not write may be a driver's text.
  return {
    code,
    message: isReworded ? message : codeMessage(code),
    status,
    isDeclared: false,
    data: undefined,
  };
}

/** Returns the HTTP status of an error: the one in its shape by a formatter of `.errors()`, or that of its code. */
export const errorStatusOf = (error: TRPCError): number => formattedStatus(error, formattedShape(error));

/** Returns tRPC's code for what the client received: that of the error, unless a formatter has changed its status. */
export function codeOf(error: TRPCError): string {
  const status = errorStatusOf(error);
  const isOwn = isReservedCode(error.code) && getHTTPStatusCodeFromError(error) === status;
  return isOwn ? error.code : trpcCodeOf(status);
}

function formattedStatus(error: TRPCError, shape: FormattedShape | undefined): number {
  if (isMappedDeclared(error)) return error.definition.status;
  const { httpStatus } = shape?.data ?? {};
  return isErrorStatus(httpStatus) ? httpStatus : getHTTPStatusCodeFromError(error);
}

interface FormattedShape {
  readonly message: string;
  readonly data?: { readonly httpStatus?: unknown } | undefined;
}

/** Returns the shape of an error by a formatter of `.errors()`, which tRPC stores under a private symbol of it. */
function formattedShape(error: TRPCError): FormattedShape | undefined {
  const config = { isDev: false, errorFormatter: () => undefined };
  const shape: unknown = getErrorShape({ config, error, ...unknownCall } as unknown as Parameters<
    typeof getErrorShape
  >[0]);
  if (!isThenable(shape)) return shape as FormattedShape | undefined;
  // An asynchronous formatter, which tRPC has called.
  ignoreRejection(shape);
  return undefined;
}

/** Whether a formatter of `.errors()` has shaped an error. */
export const isFormatted = (error: TRPCError): boolean => formattedShape(error) !== undefined;

/** The context of an error that belongs to no call. */
export const unknownCall = { type: 'unknown', path: undefined, input: undefined, ctx: undefined } as const;

/**
 * Returns the message if clients may see it, else the code as text, such as "Internal server error". tRPC copies the
 * message of a cause, which may have a driver's text, a path or a connection string.
 */
export function clientMessage(error: TRPCError): string {
  const { code, message, cause } = error;
  if (cause === undefined) return message;
  const isUnexpected = code === 'INTERNAL_SERVER_ERROR';
  const isCopied = message === cause.message && issuesOf(error).length === 0;
  const isHidden = isMapped(error) ? isUnexpected && isCopied : isUnexpected || isCopied;
  return isHidden ? codeMessage(code) : message;
}

/** Returns an error with a message that clients may see, on every protocol. It keeps the cause for logs. */
export function clientError(error: TRPCError): TRPCError {
  const message = clientMessage(error);
  return message === error.message ? error : new TRPCError({ code: error.code, message, cause: error.cause });
}
