import { TRPCError } from '@trpc/server';
import { codeMessage } from './errorCodes.ts';
import { issuesOf } from './inputError.ts';

/**
 * Returns an error's message if clients may see it, or else its code as text, such as "Internal server error". A
 * message that comes from the cause is hidden, since it may hold a driver's text, a path or a connection string: tRPC
 * copies the message of the cause into an error without a message.
 */
export function clientMessage(error: TRPCError): string {
  const { code, message, cause } = error;
  if (cause === undefined) return message;
  const isHidden =
    code === 'INTERNAL_SERVER_ERROR' || (message === cause.message && issuesOf(error).length === 0);
  return isHidden ? codeMessage(code) : message;
}

/** Returns an error with a message that clients may see, on every protocol. It keeps the cause for logs. */
export function clientError(error: TRPCError): TRPCError {
  const message = clientMessage(error);
  return message === error.message ? error : new TRPCError({ code: error.code, message, cause: error.cause });
}
