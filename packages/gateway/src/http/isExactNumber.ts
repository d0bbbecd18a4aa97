/** Whether a decimal literal was parsed to a double without loss. */
export function isExactNumber(literal: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const text = String(value);
  return literal === text || canonicalDecimal(literal) === canonicalDecimal(text);
}

/** Returns the same text for all decimal literals of one number: `1.50` and `15e-1`. */
function canonicalDecimal(decimal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  if (match === null) return decimal;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  // Loops, not /0+$/: that pattern takes quadratic time for a megabyte of zeros followed by another digit.
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
