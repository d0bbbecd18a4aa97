import { isThenable } from './maybePromise.ts';

/**
 * Calls a function of the service whose result is not used. What it throws, or what its promise rejects with, is ignored:
 * a log that is unavailable neither changes a response nor ends the process.
 */
export function notify<Value>(hook: (value: Value) => unknown, value: Value): void {
  try {
    const returned = hook(value);
    if (isThenable(returned)) ignoreRejection(returned);
  } catch {
    // The hook itself failed.
  }
}

/**
 * Returns the result of a function of the service that must not be asynchronous.
 * @param hook what the function is called in the documentation, such as `mapError`
 * @param name is added to `hook`, which is cheaper than a text for each call
 * @throws {TypeError} for a promise, which would be used as a value. Its rejection is ignored
 */
export function requireSync<Value>(value: Value, hook: string, name = ''): Value {
  if (!isThenable(value)) return value;
  ignoreRejection(value);
  throw new TypeError(
    `${hook}${name} returned a promise, but its result is needed at once. Return the value itself: keep what it needs in memory, or load it before, such as in createContext or a middleware.`,
  );
}

/** Prevents an unhandled rejection, which would end the process. */
export const ignoreRejection = (promise: PromiseLike<unknown>): void =>
  void Promise.resolve(promise).catch(() => {});
