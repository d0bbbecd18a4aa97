import { TRPCError } from '@trpc/server';
import { someHeader, type HttpRequest } from '../http/request.ts';
import type { IdempotencyKeyUse } from '../procedures/readIdempotencyKey.ts';

// A structured-field string (RFC 8941 §3.3.3), as IETF httpapi-idempotency-key-header-07 has it, or the bare text that
// most clients send. Visible ASCII: U+0021 to U+007E.
const quoted = /^"((?:[!#-[\]-~]|\\["\\]){1,255})"$/;
const bare = /^[!#-~][!-~]{0,254}$/;

/** What the header may be, for the document: one RegExp that says the same in JSON Schema. */
export const idempotencyKeyPattern = new RegExp(`${bare.source}|${quoted.source}`);

/**
 * The `Idempotency-Key` of a request; `undefined` where it has none. Quoted and bare, a key is the same.
 * @throws {TRPCError} `BAD_REQUEST` for one that is not 1 to 255 visible ASCII characters, for several, and where the
 *   procedure requires one and there is none
 */
export function idempotencyKey(request: HttpRequest, use?: IdempotencyKeyUse): string | undefined {
  if (!someHeader(request, isKey)) {
    if (use === 'required') throw keyRequired();
    return undefined;
  }
  const values: string[] = [];
  for (const [name, value] of request.headers()) if (isKey(name)) values.push(value);
  const [value = ''] = values;
  const key = quoted.exec(value)?.[1]?.replace(/\\(.)/g, '$1') ?? bare.exec(value)?.[0];
  if (values.length === 1 && key !== undefined) return key;
  throw new TRPCError({
    code: 'BAD_REQUEST',
    message:
      'Idempotency-Key: must be one value of 1 to 255 visible ASCII characters, bare or in double quotes.',
  });
}

/** Why a call without a key cannot be made. */
export const keyRequired = () =>
  new TRPCError({
    code: 'BAD_REQUEST',
    message: 'Idempotency-Key: is required. Send a new UUID for each call.',
  });

const isKey = (name: string) => name === 'idempotency-key';
