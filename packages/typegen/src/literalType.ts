import { quoted } from './print.ts';
import { word, type TypeNode } from './typeNode.ts';

/** The type of one value. */
export function literalType(value: unknown): TypeNode {
  switch (typeof value) {
    case 'string':
      return word(quoted(value));
    case 'bigint':
      return word(`${value}n`);
    case 'number':
      return word(Number.isFinite(value) ? String(value) : 'number');
    default:
      return word(String(value));
  }
}

/** An enum's values. A numeric TypeScript enum has the names of its members as values too. */
export function enumValues(entries: Readonly<Record<string, string | number>>): readonly (string | number)[] {
  const numbers = new Set(Object.values(entries).filter((value) => typeof value === 'number'));
  return Object.entries(entries).flatMap(([key, value]) => (numbers.has(Number(key)) ? [] : [value]));
}
