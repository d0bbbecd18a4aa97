/**
 * Returns the result of a function that must return it at once. @param hook its name in the documentation
 * @returns `undefined` if it throws or returns a promise, after `onFailure`
 */
export function syncResult<Result>(
  hook: string,
  run: () => Result,
  onFailure: (error: unknown) => void = () => {},
): Result | undefined {
  try {
    const result = run();
    if (typeof (result as { readonly then?: unknown } | undefined)?.then !== 'function') return result;
    void Promise.resolve(result).catch(() => {});
    onFailure(new TypeError(`${hook} returned a promise. Return the value itself.`));
  } catch (error) {
    onFailure(error);
  }
  return undefined;
}
