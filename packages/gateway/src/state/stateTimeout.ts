import { unref } from '../http/eventLoop.ts';

/** A state did not respond in time. */
export class StateTimeoutError extends Error {}

/** Resolves with the result of a state, or rejects with a `StateTimeoutError` if it takes too long. */
export async function withinStateTimeout<T>(result: PromiseLike<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  // Created when it is late: with its stack, an error takes a fifth of the time of a call with a key.
  const onLate = () => reject(new StateTimeoutError(`The state did not respond within ${timeoutMs} ms.`));
  const timer = unref(setTimeout(onLate, timeoutMs));
  try {
    return await Promise.race([result, promise]);
  } finally {
    clearTimeout(timer);
  }
}
