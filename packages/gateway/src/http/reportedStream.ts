import type { BodyStream } from './response.ts';

/**
 * Wraps a stream to report its end.
 * @param onEnd called once when the iteration ends, with the error if it failed
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
          // Reported before the source returns: a source with a pending `next` may never return.
          end();
          await (iterator[Symbol.asyncDispose]?.() ?? iterator.return?.());
          return { done: true, value };
        },
      };
    },
    ...(source.end && { end: () => source.end?.() }),
  };
}
