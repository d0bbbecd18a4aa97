import type { BodyStream } from '../../http/response.ts';
import { formatValue } from '../../http/formatValue.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { ResponseContent } from './successResponse.ts';

type ByteSource = ReadableStream<unknown> | (AsyncIterable<unknown> & { readonly destroy?: () => void });

/**
 * Encodes a binary output.
 * @param path the procedure's path
 * @param contentType the media type of an output that is not a `Blob` with a type
 * @throws {TypeError} for an output that is not bytes
 */
export function byteContent(path: string, output: unknown, contentType: string): ResponseContent {
  const type = output instanceof Blob && output.type !== '' ? output.type : contentType;
  const headers = [['content-type', type]] as const;
  if (output instanceof Uint8Array) return { headers, body: output };
  const source: unknown = output instanceof Blob ? output.stream() : output;
  if (isAsyncIterable(source)) return { headers, body: requireByteChunks(path, source) };
  throw new TypeError(
    `Procedure "${path}" declares produces: "${contentType}" but returned ${formatValue(output)}. ` +
      'Return a Uint8Array, Blob, ReadableStream or AsyncIterable<Uint8Array>.',
  );
}

/** Passes on a stream of bytes. It fails for strings, since their encoding is unknown. */
function requireByteChunks(path: string, source: ByteSource): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      // A reader can cancel at once; the stream's own iterator would wait for the pending chunk.
      const stream = source instanceof ReadableStream ? source : ReadableStream.from(source);
      const reader = stream.getReader();
      async function stop() {
        // A Node stream holds its file open until it is destroyed, and its iterator does not do that before the first
        // `next`.
        if ('destroy' in source) source.destroy?.();
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
