import { ignoreRejection, isThenable } from 'trpc-gateway/internal';

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
    if (!isThenable(result)) return result;
    ignoreRejection(result);
    onFailure(new TypeError(`${hook} returned a promise. Return the value itself.`));
  } catch (error) {
    onFailure(error);
  }
  return undefined;
}
