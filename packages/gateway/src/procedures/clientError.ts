import { TRPCError } from '@trpc/server';
import { issuesOf } from './inputError.ts';

/**
 * The message of an error that clients may see: hides causes, such as a driver's text, a path or a connection string.
 * tRPC copies the message of the cause into an error that has none of its own. A router's `errorFormatter` uses it as
 * `{ ...shape, message: clientMessage(error) }`.
 * @returns the error's own message, or its code as text: "Internal server error"
 */
export function clientMessage(error: TRPCError): string {
  const { code, message, cause } = error;
  if (cause === undefined) return message;
  const isHidden =
    code === 'INTERNAL_SERVER_ERROR' || (message === cause.message && issuesOf(error).length === 0);
  return isHidden ? codeMessage(code) : message;
}

/** An error as clients may see it, on every protocol. Its cause is kept for logs. */
export function clientError(error: TRPCError): TRPCError {
  const message = clientMessage(error);
  return message === error.message ? error : new TRPCError({ code: error.code, message, cause: error.cause });
}

/** A tRPC code as text: `INTERNAL_SERVER_ERROR` is "Internal server error". */
export const codeMessage = (code: string): string =>
  `${code.slice(0, 1)}${code.slice(1).toLowerCase().replaceAll('_', ' ')}`;
