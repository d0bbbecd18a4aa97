/** Returns a value as JSON, with what JSON lacks as texts, such as `Date(2026-01-31T12:00:00.000Z)` and `5n`. */
export function shown(value: unknown): unknown {
  if (value === undefined) return 'undefined';
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Date) return `Date(${value.toISOString()})`;
  if (value instanceof File) return `${value.name} ${value.type} ${value.size}`;
  if (value instanceof FormData) return ['FormData', ...Array.from(value, shown)];
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shown(each)]));
}
