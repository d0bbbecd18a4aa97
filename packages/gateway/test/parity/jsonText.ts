// ES2025 "JSON.parse source text access": in V8 since Node 21, not yet in TypeScript's library.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

/** Returns the JSON text that `JSON.parse` reads as this value. `JSON.stringify` alone writes `-0` as `0`. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) => (Object.is(member, -0) ? rawJSON('-0') : member));

/**
 * Returns a number in decimal without rounding. `String` shortens: -(2^63) becomes -9223372036854776000, which is another
 * number and not an int64.
 */
export function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0';
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}
