/** Client's timeout, as "Timeout" of gRPC over HTTP2. See docs/architecture.md#deadline-of-a-client. */
export const timeoutHeader = 'grpc-timeout';

const timeoutUnitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** Parses a value of the header to milliseconds, more than 0. Returns `undefined` if the value is malformed or 0. */
export function parseTimeout(value: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  return Number(digits) * (timeoutUnitMs[unit] ?? 0) || undefined;
}

/** Formats milliseconds for the header, rounded down to 1 ms, or to 1 s from 28 hours on: a value has at most 8 digits. */
export function formatTimeout(ms: number): string {
  const [amount, unit] = ms < 1e8 ? [ms, 'm'] : [Math.min(ms / 1000, 99_999_999), 'S'];
  return `${Math.max(1, Math.floor(amount))}${unit}`;
}
