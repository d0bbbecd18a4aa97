import { isContainer } from '../http/isObject.ts';
import { LimitError } from './limitError.ts';

interface JsonLimits {
  readonly maxJsonDepth: number;
  readonly maxJsonContainers: number;
}

/** Names of an object above which each one counts, since V8 then keeps them in a hash table, at 1 µs each. */
const manyNames = 1000;

/**
 * Returns the error of a value with arrays and objects too deep or too many. It is breadth-first, since recursion
 * would overflow the stack. Class instances, such as bytes and files, are leaves. `levels` are around the input: 1
 * for a list of inputs.
 */
export function jsonError(
  value: unknown,
  { maxJsonContainers, maxJsonDepth }: JsonLimits,
  levels = 0,
): LimitError | undefined {
  let level = isContainer(value) ? [value] : [];
  // What is around the input does not count.
  let count = -levels;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === maxJsonDepth + levels) return depthError(maxJsonDepth);
    const next: object[] = [];
    for (const parent of level) {
      const isArray = Array.isArray(parent);
      const children: readonly unknown[] = isArray ? parent : Object.values(parent);
      count += isArray || children.length <= manyNames ? 1 : children.length;
      // Most are texts and numbers.
      for (const child of children) if (typeof child === 'object' && isContainer(child)) next.push(child);
    }
    if (count + next.length > maxJsonContainers) return containersError(maxJsonContainers);
    level = next;
  }
  return undefined;
}

export const depthError = (most: number): LimitError =>
  new LimitError('json-depth', {
    code: 'BAD_REQUEST',
    message: `The input is nested deeper than ${most} levels.`,
  });

const containersError = (most: number): LimitError =>
  new LimitError('json-containers', {
    code: 'BAD_REQUEST',
    message: `The input has more than ${most} arrays and objects, with each name of an object of more than ${manyNames} names.`,
  });
