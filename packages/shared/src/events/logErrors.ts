import { TRPCError } from '@trpc/server';
import { isTrpcError } from 'trpc-gateway/procedures';

/** How long calls wait for a log, in milliseconds: as long as those with an idempotency key wait for their state. */
export const logTimeoutMs = 1500;

/** Returns a 503 for an error of a log; one that is for clients as it is. */
export const unavailable = (
  cause: unknown,
  message = 'Events cannot be read now. Try again, with the id of the last event that you have received, if any.',
): TRPCError => (isTrpcError(cause) ? cause : new TRPCError({ code: 'SERVICE_UNAVAILABLE', message, cause }));

/** The error of a subscription whose log was closed: its end would tell clients that nothing follows. */
export const closedError = (): TRPCError =>
  new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The service stops. Connect again.' });
