import type { BodyStream } from './response.ts';

/**
 * A stream that reports its end.
 * @param onEnd called once, when the iteration ends, with its error if it failed
 */
export function reportedStream(source: BodyStream, onEnd: (error?: unknown) => void): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      const iterator: AsyncIterator<Uint8Array> & Partial<AsyncDisposable> = source[Symbol.asyncIterator]();
      let end = (error?: unknown) => {
        end = () => {};
        onEnd(error);
      };
      return {
        async next() {
          try {
            const result = await iterator.next();
            if (result.done) end();
            return result;
          } catch (error) {
            end(error);
            throw error;
          }
        },
        async return(value) {
          // At once: a source that is waiting may never end.
          end();
          await (iterator[Symbol.asyncDispose]?.() ?? iterator.return?.());
          return { done: true, value };
        },
      };
    },
    ...(source.end && { end: () => source.end?.() }),
  };
}
