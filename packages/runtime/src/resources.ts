import type { StartContext } from './options.ts';
import { errorText, UnclosedStoreError } from './signals/endProcess.ts';

type Closer = Parameters<StartContext['onClose']>[0];

/**
 * The functions that close the resources of a service.
 * @param expectedErrors names of errors that are reported as their message only, without the stack
 */
export function createResources(expectedErrors: readonly string[] | undefined) {
  const closers: Closer[] = [];
  const unclosed = (why: string, cause?: unknown) =>
    new UnclosedStoreError(`The store did not close: ${why}`, { cause });

  async function closeAll(deadline: number): Promise<undefined> {
    for (const close of closers.toReversed())
      await close({ timeoutMs: Math.max(deadline - performance.now(), 0) });
  }

  return {
    add: (close: Closer): void => void closers.push(close),

    /**
     * Closes the resources in reverse order.
     * @param deadline a time of `performance.now()`
     * @returns the error if one failed or missed the deadline; `undefined` if all are closed
     */
    async closeBefore(deadline: number): Promise<UnclosedStoreError | undefined> {
      const { promise: late, resolve } = Promise.withResolvers<UnclosedStoreError>();
      // 250 ms after the store's own deadline: its error is more specific.
      const leftMs = deadline - performance.now() + 250;
      const timer = setTimeout(() => resolve(unclosed('it took too long.')), leftMs);
      try {
        return await Promise.race([closeAll(deadline), late]);
      } catch (error) {
        return unclosed(errorText(error, expectedErrors), error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
