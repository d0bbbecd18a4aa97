import { GatewayError } from './gatewayError.ts';

/**
 * Whether a procedure accepts (`true`) or requires an `Idempotency-Key`, by which the gateway replays its responses.
 */
export type IdempotencyKeyUse = true | 'required' | undefined;

/**
 * Reads `idempotencyKey` of a procedure's metadata.
 * @throws {GatewayError} for an invalid value, for a query or subscription, and if `openapi` sets it too
 */
export function readIdempotencyKey(path: string, type: string, meta: unknown): IdempotencyKeyUse {
  const { idempotencyKey, openapi } = (meta ?? {}) as {
    readonly idempotencyKey?: unknown;
    readonly openapi?: { readonly idempotencyKey?: unknown };
  };
  if (idempotencyKey === undefined || idempotencyKey === false) return undefined;
  if (idempotencyKey !== true && idempotencyKey !== 'required') {
    throw new GatewayError(
      `Procedure "${path}" has idempotencyKey: ${JSON.stringify(idempotencyKey)}; it must be true or 'required'.`,
    );
  }
  if (type !== 'mutation') {
    throw new GatewayError(
      `Procedure "${path}" has idempotencyKey, but is a ${type}, which clients can repeat safely. Remove idempotencyKey.`,
    );
  }
  if (openapi?.idempotencyKey) {
    throw new GatewayError(
      `Procedure "${path}" has idempotencyKey twice. In meta, the gateway replays responses; in meta.openapi, the procedure handles the key itself. Remove one of them.`,
    );
  }
  return idempotencyKey;
}
