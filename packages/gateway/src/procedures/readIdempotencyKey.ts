import { GatewayError } from './gatewayError.ts';

/** Whether the gateway replays responses of a procedure by `Idempotency-Key`, and requires one. */
export type IdempotencyKeyUse = true | 'required' | undefined;

/** @throws {GatewayError} for another value, and for a procedure that cannot have one */
export function readIdempotencyKey(path: string, type: string, meta: unknown): IdempotencyKeyUse {
  const { idempotencyKey, openapi } = (meta ?? {}) as {
    readonly idempotencyKey?: unknown;
    readonly openapi?: { readonly idempotencyKey?: unknown };
  };
  if (idempotencyKey === undefined || idempotencyKey === false) return undefined;
  if (idempotencyKey !== true && idempotencyKey !== 'required') {
    throw new GatewayError(
      `The procedure ${path} has idempotencyKey: ${JSON.stringify(idempotencyKey)}; it must be true or 'required'.`,
    );
  }
  if (type !== 'mutation') {
    throw new GatewayError(
      `The procedure ${path} has idempotencyKey, and is a ${type}: a repeat of it changes nothing. Remove it.`,
    );
  }
  if (openapi?.idempotencyKey) {
    throw new GatewayError(
      `The procedure ${path} has idempotencyKey twice: beside openapi the gateway replays responses, in openapi the procedure handles the key. Remove one of both.`,
    );
  }
  return idempotencyKey;
}
