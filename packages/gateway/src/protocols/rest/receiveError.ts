import { TRPCError } from '@trpc/server';
import { BodyTooLargeError } from '../../http/request.ts';
import { LimitError } from '../../procedures/limitError.ts';

export const clientClosed = (cause: unknown): TRPCError =>
  new TRPCError({ code: 'CLIENT_CLOSED_REQUEST', message: 'The client went away.', cause });

/** The error of a request whose body cannot be received. */
export const receiveError = (cause: unknown): TRPCError =>
  cause instanceof BodyTooLargeError
    ? new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: cause.message })
    : clientClosed(cause);
