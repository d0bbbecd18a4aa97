/**
 * The request header by which a client says how long it waits for the response: gRPC's field and format
 * (gRPC over HTTP2, "Timeout"). See docs/decisions.md#deadline-of-a-client.
 */
export const timeoutHeader = 'grpc-timeout';

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** The time that a value of the header gives, in milliseconds, and more than 0; `undefined` for a malformed one. */
export function readTimeout(value: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  return Number(digits) * (unitMs[unit] ?? 0) || undefined;
}

/** The header's value for so many milliseconds, rounded down to 1 ms, and to 1 s from 28 hours on: it has 8 digits at most. */
export function timeoutValue(ms: number): string {
  const [amount, unit] = ms < 1e8 ? [ms, 'm'] : [Math.min(ms / 1000, 99_999_999), 'S'];
  return `${Math.max(1, Math.floor(amount))}${unit}`;
}
