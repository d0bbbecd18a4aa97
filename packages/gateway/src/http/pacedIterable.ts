/**
 * An iterable whose next value is asked for only once `ready` lets it: who iterates may be faster than the network.
 * @param ready a promise only where there is something to wait for
 * @param onEnd called once, when the iteration is over, however it ended, with what it failed with
 */
export function pacedIterable<T>(
  source: AsyncIterable<T>,
  ready: () => Promise<void> | undefined,
  onEnd: (error?: unknown) => void,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator: AsyncIterator<T> & Partial<AsyncDisposable> = source[Symbol.asyncIterator]();
      let isStopped = false;
      let end = (error?: unknown) => {
        end = () => {};
        onEnd(error);
      };
      return {
        async next() {
          try {
            await ready();
            const result = isStopped ? { done: true as const, value: undefined } : await iterator.next();
            if (result.done) end();
            return result;
          } catch (error) {
            end(error);
            throw error;
          }
        },
        async return(value) {
          isStopped = true;
          // Now: a source that looks at nothing while it waits for something may never get to its end.
          end();
          await (iterator[Symbol.asyncDispose]?.() ?? iterator.return?.());
          return { done: true, value };
        },
      };
    },
  };
}
