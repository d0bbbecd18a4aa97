/** A number in JSON's notation, taken apart, so that no double comes near it. */
export interface Decimal {
  readonly literal: string;
  /** Its value as an integer; `undefined` where it is none. */
  readonly integer: bigint | undefined;
}

/** @param exponent a small one; 0 is not written */
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
