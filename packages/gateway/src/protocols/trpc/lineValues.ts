import { isObject } from '../../http/isObject.ts';

/** Whether a value is an object that is written as it is: one of the class `Object` that holds no other object or function. */
export function isAllHere(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.getPrototypeOf(value) !== Object.prototype || Symbol.asyncIterator in value) return false;
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if ((typeof member === 'object' && member !== null) || typeof member === 'function') return false;
  }
  return true;
}

/** As tRPC asks it. */
export const isPromise = (value: unknown): value is Promise<unknown> => {
  if (!isObject(value) && typeof value !== 'function') return false;
  const { then, catch: onRejected } = value as { readonly then?: unknown; readonly catch?: unknown };
  return typeof then === 'function' && typeof onRejected === 'function';
};

/** As `is-plain-object`, which tRPC asks, has it. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isTagged(value)) return false;
  const { constructor } = value as { readonly constructor?: { readonly prototype?: unknown } };
  if (constructor === undefined) return true;
  const { prototype } = constructor;
  return isTagged(prototype) && Object.hasOwn(prototype, 'isPrototypeOf');
}

const isTagged = (value: unknown): value is object =>
  Object.prototype.toString.call(value) === '[object Object]';
