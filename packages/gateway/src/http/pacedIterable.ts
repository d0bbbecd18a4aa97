/**
 * An iterable that requests its source's next value only when `ready` allows it, so that the network sets the pace.
 * @param ready returns a promise where there is something to wait for
 * @param onEnd called once, when the iteration ends, with its error if it failed
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
          // At once: a source that is waiting may never end.
          end();
          await (iterator[Symbol.asyncDispose]?.() ?? iterator.return?.());
          return { done: true, value };
        },
      };
    },
  };
}
