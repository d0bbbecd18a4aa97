/** Formats a value for a message: strings in quotes, other objects by their kind. */
export function formatValue(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Promise) return 'a promise';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? `"${value}"` : String(value);
}
