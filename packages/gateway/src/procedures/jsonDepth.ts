import { LimitError } from './limitError.ts';

/**
 * Whether arrays and objects are nested deeper than so many levels. A level at a time: recursion is what a deep value
 * would end. Instances of classes, bytes and files among them, are nobody's JSON and are not looked into.
 */
export function isDeeper(value: unknown, most: number): boolean {
  if (most === Infinity || (most > 0 && isFlat(value))) return false;
  let level = isNested(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === most) return true;
    const next: object[] = [];
    for (const parent of level) {
      const children: readonly unknown[] = Array.isArray(parent) ? parent : Object.values(parent);
      for (const child of children) if (isNested(child)) next.push(child);
    }
    level = next;
  }
  return false;
}

/** Whether a value is no array, and has none and no objects in it. Most inputs are so: nothing has to be collected for those. */
function isFlat(value: unknown): boolean {
  if (!isNested(value)) return true;
  // Not an array: its names would be made for that, which takes a hundred times as long as to go through it.
  if (Array.isArray(value)) return false;
  for (const name in value) {
    if (isNested((value as Readonly<Record<string, unknown>>)[name])) return false;
  }
  return true;
}

function isNested(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export const tooDeep = (most: number): LimitError =>
  new LimitError('json-depth', {
    code: 'BAD_REQUEST',
    message: `The input is nested deeper than ${most} levels.`,
  });
