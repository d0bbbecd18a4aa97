import { TRPCError } from '@trpc/server';
import type { HttpRequest } from '../http/request.ts';
import type { Procedure } from '../procedures/procedure.ts';

// A structured-field string (RFC 8941 §3.3.3), as in IETF httpapi-idempotency-key-header-07, or the unquoted string
// that most clients send. Visible ASCII: U+0021 to U+007E.
const quotedKey = /^"((?:[!#-[\]-~]|\\["\\]){1,255})"$/;
const unquotedKey = /^[!#-~][!-~]{0,254}$/;

/** The valid values of the header, as a RegExp that is also a `pattern` of JSON Schema. */
export const idempotencyKeyPattern = new RegExp(`${unquotedKey.source}|${quotedKey.source}`);

/**
 * Reads the `Idempotency-Key`; the same with and without quotes, `undefined` without one.
 * @throws {TRPCError} `BAD_REQUEST` if not 1 to 255 visible ASCII characters, repeated, or required and missing
 */
export function idempotencyKey(request: HttpRequest, use?: Procedure['idempotencyKey']): string | undefined {
  if (!request.hasHeader(keyHeader)) {
    if (use === 'required') throw keyRequired();
    return undefined;
  }
  const received = [...request.headers()].filter(([name]) => name === keyHeader);
  const key = parseKey(received[0]?.[1] ?? '');
  if (received.length === 1 && key !== undefined) return key;
  throw new TRPCError({
    code: 'BAD_REQUEST',
    message:
      'Idempotency-Key: must be one value of 1 to 255 visible ASCII characters, bare or in double quotes.',
  });
}

/** Returns the key of a value of the header, which may be in quotes; `undefined` for an invalid value. */
export const parseKey = (value: string): string | undefined =>
  quotedKey.exec(value)?.[1]?.replace(/\\(.)/g, '$1') ?? unquotedKey.exec(value)?.[0];

export const keyRequired = () =>
  new TRPCError({
    code: 'BAD_REQUEST',
    message: 'Idempotency-Key: is required. Send a new UUID for each action, and the same one to repeat it.',
  });

const keyHeader = 'idempotency-key';
