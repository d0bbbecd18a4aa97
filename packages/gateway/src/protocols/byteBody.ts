import { formatValue } from '../http/formatValue.ts';
import { destroyNodeStream, isAsyncIterable, type BodyStream } from '../http/response.ts';

/** Encodes an output of the declared `contentType`. @throws {TypeError} if it is not bytes */
export function byteBody(path: string, output: unknown, contentType: string): Uint8Array | BodyStream {
  if (output instanceof Uint8Array) return output;
  const source: unknown = output instanceof Blob ? output.stream() : output;
  if (isAsyncIterable(source)) return requireByteChunks(path, source);
  throw new TypeError(
    `Procedure "${path}" declares produces: "${contentType}" but returned ${formatValue(output)}. ` +
      'Return a Uint8Array, Blob, ReadableStream or AsyncIterable<Uint8Array>.',
  );
}

/** Passes on a stream of bytes. It fails for strings, since their encoding is unknown. */
function requireByteChunks(path: string, source: AsyncIterable<unknown>): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      // A reader can cancel at once; the stream's own iterator would wait for the pending chunk.
      const stream = source instanceof ReadableStream ? source : ReadableStream.from(source);
      const reader = stream.getReader();
      async function stop() {
        destroyNodeStream(source);
        await reader.cancel();
      }
      return {
        async next() {
          const { done, value } = await reader.read();
          if (done) return { done, value: undefined };
          if (value instanceof Uint8Array) return { done, value };
          await stop();
          throw new TypeError(
            `Procedure "${path}" yielded a value of the type ${typeof value}. Yield Uint8Array chunks.`,
          );
        },
        async return(value) {
          await stop();
          return { done: true, value };
        },
      };
    },
  };
}
