import { unref } from '../http/eventLoop.ts';

/** A state did not respond in time. */
export class StateTimeoutError extends Error {}

/** Resolves with the result of a state, or rejects with a `StateTimeoutError` if it takes too long. */
export function withinStateTimeout<T>(result: PromiseLike<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = unref(
      setTimeout(
        () => reject(new StateTimeoutError(`The state did not respond within ${timeoutMs} ms.`)),
        timeoutMs,
      ),
    );
    result.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (cause: unknown) => {
        clearTimeout(timer);
        reject(cause);
      },
    );
  });
}
