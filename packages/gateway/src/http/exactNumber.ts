/** Whether a decimal literal and the double that was made of it are the same number. */
export function isExact(literal: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const text = String(value);
  return literal === text || canonical(literal) === canonical(text);
}

function canonical(decimal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  if (match === null) return decimal;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  // Loops, not /0+$/: that pattern takes quadratic time on a megabyte of zeros that ends in another digit.
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
