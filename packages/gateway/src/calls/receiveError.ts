import { TRPCError } from '@trpc/server';
import { BodyTooLargeError, hasContentEncoding, type HttpRequest } from '../http/request.ts';
import { LimitError } from '../procedures/limitError.ts';

export const bodyTooLarge = (message: string): LimitError =>
  new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message });

/** @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE` if the body has a `Content-Encoding`: none is decoded */
export function rejectContentEncoding(request: HttpRequest): void {
  if (!request.hasHeader('content-encoding') || !hasContentEncoding(request)) return;
  const message = 'The body has a Content-Encoding, which is not supported. Send it without one.';
  throw new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE', message });
}

export const clientClosedError = (cause: unknown): TRPCError =>
  new TRPCError({ code: 'CLIENT_CLOSED_REQUEST', message: 'The client disconnected.', cause });

/** Converts an error while receiving a body: 413 for a body that is too large, otherwise `CLIENT_CLOSED_REQUEST`. */
export const receiveError = (cause: unknown): TRPCError =>
  cause instanceof BodyTooLargeError ? bodyTooLarge(cause.message) : clientClosedError(cause);
