/**
 * Calls a function of the service or of a part, whose result is not used. What it throws, or what its promise rejects with,
 * is ignored: a log that is unavailable must not end the process.
 */
export function notify<Value>(hook: (value: Value) => unknown, value: Value): void {
  try {
    const returned = hook(value);
    if (typeof returned === 'object' && returned !== null) ignoreRejection(returned);
  } catch {
    // The hook itself failed.
  }
}

/**
 * Returns the result of a function that must return it at once.
 * @param hook what the function is called in the documentation
 * @returns `undefined` if it throws or returns a promise, after `onFailure`
 */
export function syncResult<Result>(
  hook: string,
  run: () => Result,
  onFailure: (error: unknown) => void = () => {},
): Result | undefined {
  try {
    const result = run();
    if (typeof result !== 'object' || result === null || !('then' in result)) return result;
    ignoreRejection(result);
    onFailure(new TypeError(`${hook} returned a promise. Return the value itself.`));
  } catch (error) {
    onFailure(error);
  }
  return undefined;
}

/** Prevents an unhandled rejection, which would end the process. */
const ignoreRejection = (value: object): void => void Promise.resolve(value).catch(() => {});
