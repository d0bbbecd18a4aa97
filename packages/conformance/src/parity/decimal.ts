/** A number in JSON notation, built without a double, so that nothing rounds it. */
export interface Decimal {
  readonly literal: string;
  /** Its value, or `undefined` if it is not an integer. */
  readonly integer: bigint | undefined;
}

/**
 * Builds a decimal from its parts.
 * @param exponent a small integer; 0 is left out of the literal
 */
export function decimal(isNegative: boolean, whole: bigint, fraction: string, exponent = 0): Decimal {
  const sign = isNegative ? '-' : '';
  const mantissa = fraction === '' ? String(whole) : `${whole}.${fraction}`;
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const scale = exponent - fraction.length;
  const divisor = 10n ** BigInt(Math.max(0, -scale));
  return {
    literal: `${sign}${mantissa}${exponent === 0 ? '' : `e${exponent}`}`,
    integer: digits % divisor === 0n ? (digits * 10n ** BigInt(Math.max(0, scale))) / divisor : undefined,
  };
}
