import { setTimeout as sleep } from 'node:timers/promises';
import type { StartContext } from './options.ts';
import { errorText, UnclosedStoreError } from './signals/endProcess.ts';

type Closer = Parameters<StartContext['onClose']>[0];

/** The functions that close the resources of a service. */
export class Resources {
  readonly #closers: Closer[] = [];
  readonly #expectedErrors: readonly string[] | undefined;

  /** @param expectedErrors names of errors that are reported as their message only, without the stack */
  constructor(expectedErrors: readonly string[] | undefined) {
    this.#expectedErrors = expectedErrors;
  }

  add(close: Closer): void {
    this.#closers.push(close);
  }

  /**
   * Closes the resources in reverse order.
   * @param deadline a time of `performance.now()`
   * @returns the error if one failed or missed the deadline; `undefined` if all are closed
   */
  async closeBefore(deadline: number): Promise<UnclosedStoreError | undefined> {
    const toCloseError = (why: string, cause?: unknown) =>
      new UnclosedStoreError(`The store did not close: ${why}`, { cause });
    const timedOut = new AbortController();
    try {
      return await Promise.race([
        this.#closeAll(deadline).then(() => undefined),
        // 250 ms after the store's own deadline: its error is more specific.
        sleep(deadline - performance.now() + 250, undefined, { signal: timedOut.signal }).then(() =>
          toCloseError('it took too long.'),
        ),
      ]);
    } catch (error) {
      return toCloseError(errorText(error, this.#expectedErrors), error);
    } finally {
      timedOut.abort();
    }
  }

  async #closeAll(deadline: number): Promise<void> {
    for (const close of this.#closers.toReversed())
      await close({ timeoutMs: Math.max(deadline - performance.now(), 0) });
  }
}
