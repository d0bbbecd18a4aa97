import { isThenable } from './maybePromise.ts';

// Two ways to call a function of the service. A throw or a rejected promise does not end the process in either.

/**
 * Calls a function of the service whose failure must not change a response, such as a log that is unavailable.
 * @returns its result; `undefined` if it throws or returns a promise, which is not awaited
 */
export function tryHook<Value, Result>(hook: (value: Value) => Result, value: Value): Result | undefined {
  try {
    const returned = hook(value);
    if (returned === undefined || !isThenable(returned)) return returned;
    ignoreRejection(returned);
  } catch {
    // The hook itself failed.
  }
  return undefined;
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
