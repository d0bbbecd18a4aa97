import { LimitError } from './limitError.ts';

/**
 * Whether arrays and objects are nested deeper than `most` levels. The search is breadth-first, since recursion into a
 * deep value would overflow the stack. Class instances, such as bytes and files, are not JSON and count as leaves.
 */
export function isDeeper(value: unknown, most: number): boolean {
  if (most === Infinity) return false;
  let level = isContainer(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === most) return true;
    const next: object[] = [];
    for (const parent of level) {
      const children: readonly unknown[] = Array.isArray(parent) ? parent : Object.values(parent);
      for (const child of children) if (isContainer(child)) next.push(child);
    }
    level = next;
  }
  return false;
}

/** Whether a value is an array, or an object that is no instance of a class. */
export function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export const depthError = (most: number): LimitError =>
  new LimitError('json-depth', {
    code: 'BAD_REQUEST',
    message: `The input is nested deeper than ${most} levels.`,
  });
