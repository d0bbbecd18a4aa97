import { GatewayError } from './gatewayError.ts';

/** What a procedure's metadata says of each call of it. */
export interface CallLimits {
  /** How long a call may take, in milliseconds; `undefined`: `callTimeoutMs` of the gateway. */
  readonly deadlineMs: number | undefined;
  /** How many calls it counts as for the rate limit. */
  readonly rateLimitCost: number;
}

/** @throws {GatewayError} where a limit is invalid, or would hold for REST alone */
export function readCallLimits(path: string, meta: unknown): CallLimits {
  const { deadlineMs, rateLimitCost = 1, openapi = {} } = (meta ?? {}) as Record<string, unknown>;
  for (const name of ['deadlineMs', 'rateLimitCost']) {
    if ((openapi as Readonly<Record<string, unknown>> | null)?.[name] === undefined) continue;
    throw new GatewayError(
      `The procedure ${path} has ${name} in meta.openapi, where it would hold for REST alone: write meta({ ${name}: …, openapi: { … } }).`,
    );
  }
  if (deadlineMs !== undefined && !(typeof deadlineMs === 'number' && deadlineMs > 0)) {
    throw new GatewayError(
      `The procedure ${path} has deadlineMs: ${JSON.stringify(deadlineMs)}; it must be a positive number of milliseconds, or Infinity for no deadline.`,
    );
  }
  if (!(typeof rateLimitCost === 'number' && Number.isSafeInteger(rateLimitCost) && rateLimitCost >= 0)) {
    throw new GatewayError(
      `The procedure ${path} has rateLimitCost: ${JSON.stringify(rateLimitCost)}; it must be an integer, 0 or more.`,
    );
  }
  return { deadlineMs, rateLimitCost };
}
