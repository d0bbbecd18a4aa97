import { GatewayError } from './gatewayError.ts';

/** Limits of a procedure's calls, from its metadata. */
export interface CallLimits {
  /** Maximum duration of a call, in milliseconds. `undefined` means the gateway's `callTimeoutMs`. */
  readonly deadlineMs: number | undefined;
  /** How many calls one call counts as for the rate limit. */
  readonly rateLimitCost: number;
}

/**
 * Reads the limits from a procedure's metadata.
 * @throws {GatewayError} for an invalid limit, and for one in `openapi`, which would apply to REST only
 */
export function readCallLimits(path: string, meta: unknown): CallLimits {
  const { deadlineMs, rateLimitCost = 1, openapi = {} } = (meta ?? {}) as Record<string, unknown>;
  for (const name of ['deadlineMs', 'rateLimitCost']) {
    if ((openapi as Readonly<Record<string, unknown>> | null)?.[name] === undefined) continue;
    throw new GatewayError(
      `Procedure "${path}" has ${name} in meta.openapi, where it would apply only to REST. Write meta({ ${name}: …, openapi: { … } }).`,
    );
  }
  if (deadlineMs !== undefined && !(typeof deadlineMs === 'number' && deadlineMs > 0)) {
    throw new GatewayError(
      `Procedure "${path}" has deadlineMs: ${JSON.stringify(deadlineMs)}; it must be a positive number of milliseconds, or Infinity for no deadline.`,
    );
  }
  if (!(typeof rateLimitCost === 'number' && Number.isSafeInteger(rateLimitCost) && rateLimitCost >= 0)) {
    throw new GatewayError(
      `Procedure "${path}" has rateLimitCost: ${JSON.stringify(rateLimitCost)}; it must be an integer of 0 or more.`,
    );
  }
  return { deadlineMs, rateLimitCost };
}
