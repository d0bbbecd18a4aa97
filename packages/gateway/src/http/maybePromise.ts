export type MaybePromise<T> = T | Promise<T>;

/**
 * Calls `next` with a value: at once, or when the promise resolves. A synchronous value creates no promise: most calls
 * on the embedded store are synchronous, and a promise is a large part of their cost.
 */
export function mapMaybePromise<T, R>(
  value: T | Promise<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Whether a value can be awaited: a promise, or another object with a `then` method, such as a query builder. Await it,
 * or pass it to `Promise.resolve`, which rejects if `then` throws, or its getter, of which this returns true.
 */
export function isThenable<T = unknown>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if (value instanceof Promise) return true;
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
  try {
    return typeof (value as { readonly then?: unknown }).then === 'function';
  } catch {
    return true;
  }
}
