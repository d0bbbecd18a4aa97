import { TRPCError } from '@trpc/server';
import type { TRPCRequestInfo } from '@trpc/server/http';
import { BodyTooLargeError, someHeader, type HttpRequest } from '../../http/request.ts';
import { LimitError } from '../../procedures/limitError.ts';

/** How a request sends its input: `json` in the query of a GET, else in the body. */
export type InputMedia = 'json' | 'form' | 'octets';

/** @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE` */
export function mediaOf(http: HttpRequest): InputMedia {
  const contentType = http.header('content-type');
  if (contentType === 'application/json') return 'json';
  const media = contentType && medias.get((contentType.split(';', 1)[0] as string).trim().toLowerCase());
  if (media) return media;
  if (http.method === 'GET') return 'json';
  const isNamed = someHeader(http, (name) => name === 'content-type');
  throw new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: isNamed ? `Unsupported content-type "${contentType ?? ''}` : 'Missing content-type header',
  });
}

const medias: ReadonlyMap<string, InputMedia> = new Map([
  ['application/json', 'json'],
  ['multipart/form-data', 'form'],
  ['application/octet-stream', 'octets'],
]);

/** By length first: a string from outside is not internalized, and comparing it costs more. */
const acceptsLines = (name: string, value: string) =>
  (name.length === 11 && name === 'trpc-accept') ||
  (name.length === 6 && name === 'accept' && value.includes('jsonl'));

/** The format that the headers ask for. */
export function acceptOf(http: HttpRequest): TRPCRequestInfo['accept'] {
  if (!someHeader(http, acceptsLines)) return null;
  const accept = joinedHeader(http, 'trpc-accept');
  // Any other value is reported as it is.
  if (accept !== null) return accept as TRPCRequestInfo['accept'];
  const types = joinedHeader(http, 'accept')?.split(',') ?? [];
  return types.some((type) => type.trim() === 'application/jsonl') ? 'application/jsonl' : null;
}

/** All values of a header, as `Headers` joins them. */
export function joinedHeader(http: HttpRequest, name: string): string | null {
  const values: string[] = [];
  someHeader(http, (other, value) => {
    if (other === name) values.push(value);
    return false;
  });
  return values.length === 0 ? null : values.join(', ');
}

/** @throws {TRPCError} where the body cannot be read */
export async function readForm(http: HttpRequest, maxBodyBytes: number): Promise<FormData> {
  try {
    const body = await http.body(maxBodyBytes);
    const headers = { 'content-type': http.header('content-type') as string };
    return await new Response(body, { headers }).formData();
  } catch (cause) {
    throw bodyError(cause);
  }
}

/** The error of a stream that cannot be read. */
export const streamError = (cause: unknown): unknown =>
  cause instanceof BodyTooLargeError ? bodyError(cause) : cause;

/** The error of a call whose body cannot be read; where it is too large with tRPC's own message. */
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
