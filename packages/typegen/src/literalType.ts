import { quoteString } from './print.ts';
import { typeToken, type TypeNode } from './typeNode.ts';

export function literalType(value: unknown): TypeNode {
  switch (typeof value) {
    case 'string':
      return typeToken(quoteString(value));
    case 'bigint':
      return typeToken(`${value}n`);
    case 'number':
      return typeToken(Number.isFinite(value) ? String(value) : 'number');
    default:
      return typeToken(String(value));
  }
}

/** Returns the values of an enum. Skips the reverse mapping of numeric TypeScript enums, which has member names as values. */
export function enumValues(entries: Readonly<Record<string, string | number>>): readonly (string | number)[] {
  const numbers = new Set(Object.values(entries).filter((value) => typeof value === 'number'));
  return Object.entries(entries).flatMap(([key, value]) => (numbers.has(Number(key)) ? [] : [value]));
}
