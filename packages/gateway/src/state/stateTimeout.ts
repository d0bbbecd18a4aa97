import { unref } from '../http/eventLoop.ts';

/** A state did not respond in time. */
export class StateTimeoutError extends Error {}

/** Resolves with the result of a state, or rejects with a `StateTimeoutError` if it takes too long. */
export async function withinStateTimeout<T>(result: PromiseLike<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const error = new StateTimeoutError(`The state did not respond within ${timeoutMs} ms.`);
  const timer = unref(setTimeout(reject, timeoutMs, error));
  try {
    return await Promise.race([result, promise]);
  } finally {
    clearTimeout(timer);
  }
}
