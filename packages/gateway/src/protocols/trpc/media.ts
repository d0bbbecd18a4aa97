import { TRPCError } from '@trpc/server';
import type { TRPCRequestInfo } from '@trpc/server/http';
import { BodyTooLargeError, someHeader, type HttpRequest } from '../../http/request.ts';
import { LimitError } from '../../procedures/limitError.ts';

/** The format of a request's input. `json` is in the query of a GET, otherwise in the body. */
export type InputMedia = 'json' | 'form' | 'octets';

/**
 * Returns the format of a request's input.
 * @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE`
 */
export function mediaOf(http: HttpRequest): InputMedia {
  const contentType = http.header('content-type');
  if (contentType === 'application/json') return 'json';
  const media =
    contentType && inputMediaByType.get((contentType.split(';', 1)[0] as string).trim().toLowerCase());
  if (media) return media;
  if (http.method === 'GET') return 'json';
  const isNamed = someHeader(http, (name) => name === 'content-type');
  throw new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: isNamed ? `Unsupported content-type "${contentType ?? ''}` : 'Missing content-type header',
  });
}

const inputMediaByType: ReadonlyMap<string, InputMedia> = new Map([
  ['application/json', 'json'],
  ['multipart/form-data', 'form'],
  ['application/octet-stream', 'octets'],
]);

/** Compares by length first: V8 does not internalize received strings, so comparing them costs more. */
const acceptsLines = (name: string, value: string) =>
  (name.length === 11 && name === 'trpc-accept') ||
  (name.length === 6 && name === 'accept' && value.includes('jsonl'));

/** Returns the response format that the headers request. */
export function acceptOf(http: HttpRequest): TRPCRequestInfo['accept'] {
  if (!someHeader(http, acceptsLines)) return null;
  const accept = joinedHeader(http, 'trpc-accept');
  // As in tRPC, any value is passed on.
  if (accept !== null) return accept as TRPCRequestInfo['accept'];
  const types = joinedHeader(http, 'accept')?.split(',') ?? [];
  return types.some((type) => type.trim() === 'application/jsonl') ? 'application/jsonl' : null;
}

/** Returns all values of a header, joined as by `Headers`. */
export function joinedHeader(http: HttpRequest, name: string): string | null {
  const values: string[] = [];
  someHeader(http, (other, value) => {
    if (other === name) values.push(value);
    return false;
  });
  return values.length === 0 ? null : values.join(', ');
}

/**
 * Reads a form.
 * @throws {TRPCError} if the body cannot be read
 */
export async function readForm(http: HttpRequest, maxBodyBytes: number): Promise<FormData> {
  try {
    const body = await http.body(maxBodyBytes);
    const headers = { 'content-type': http.header('content-type') as string };
    return await new Response(body, { headers }).formData();
  } catch (cause) {
    throw bodyError(cause);
  }
}

/** Converts an error while reading a stream. */
export const streamError = (cause: unknown): unknown =>
  cause instanceof BodyTooLargeError ? bodyError(cause) : cause;

/** Converts an error while reading a body. For one that is too large, the message is tRPC's. */
export const bodyError = (cause: unknown): TRPCError =>
  cause instanceof BodyTooLargeError
    ? new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: 'PAYLOAD_TOO_LARGE' })
    : unreadableInput(cause);

export const unreadableInput = (cause: unknown): TRPCError =>
  cause instanceof TRPCError
    ? cause
    : new TRPCError({
        code: 'BAD_REQUEST',
        message: cause instanceof Error ? cause.message : 'Invalid input',
        cause,
      });
