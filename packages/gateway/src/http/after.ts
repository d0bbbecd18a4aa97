export type MaybePromise<T> = T | Promise<T>;

/**
 * Goes on with a value that may have to be waited for, without a promise where it is there already: most calls on the
 * embedded store never wait, and a promise hop is a large part of what such a call costs.
 */
export function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Whether a value is to be waited for: what a query builder gives can be, too, though it is no promise. */
export const isThenable = <T = unknown>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  value instanceof Promise ||
  (((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { readonly then?: unknown }).then === 'function');
