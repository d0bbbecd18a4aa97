import type { BodyStream } from '../../http/response.ts';
import { formatValue } from '../../http/formatValue.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { ResponseContent } from './successResponse.ts';

type ByteSource = ReadableStream<unknown> | (AsyncIterable<unknown> & { readonly destroy?: () => void });

/**
 * The body of an output of bytes.
 * @param contentType its media type, where it does not have its own
 * @throws {TypeError} for an output that is not bytes
 */
export function byteContent(output: unknown, contentType: string): ResponseContent {
  const type = output instanceof Blob && output.type !== '' ? output.type : contentType;
  const headers = [['content-type', type]] as const;
  if (output instanceof Uint8Array) return { headers, body: output };
  const source: unknown = output instanceof Blob ? output.stream() : output;
  if (isAsyncIterable(source)) return { headers, body: checkedBytes(source) };
  throw new TypeError(
    `Its metadata declares produces: "${contentType}" but it returned ${formatValue(output)}. ` +
      'Return a Uint8Array, Blob, ReadableStream or AsyncIterable<Uint8Array>.',
  );
}

/** Only bytes: a text has no known encoding. */
function checkedBytes(source: ByteSource): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      // A reader cancels at once: the stream's own iterator would wait for the pending chunk.
      const stream = source instanceof ReadableStream ? source : ReadableStream.from(source);
      const reader = stream.getReader();
      async function stop() {
        // A stream of Node's holds a file until it is destroyed, and its iterator does nothing before it has begun.
        if ('destroy' in source) source.destroy?.();
        await reader.cancel();
      }
      return {
        async next() {
          const { done, value } = await reader.read();
          if (done) return { done, value: undefined };
          if (value instanceof Uint8Array) return { done, value };
          await stop();
          throw new TypeError(`A stream of bytes yielded a ${typeof value}. Yield Uint8Array chunks.`);
        },
        async return(value) {
          await stop();
          return { done: true, value };
        },
      };
    },
  };
}
