import {
  destroyNodeStream,
  isAsyncIterable,
  type BodyStream,
  type HttpResponse,
} from '../../http/response.ts';
import { formatValue } from '../../http/formatValue.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import type { MediaWriter } from '../../procedures/meta.ts';

/** Returns the media type of a binary output: that of a `Blob` with a type, otherwise the declared one. */
export const byteType = (output: unknown, contentType: string): string =>
  output instanceof Blob && output.type !== '' ? output.type : contentType;

/**
 * Encodes a binary output.
 * @param path the procedure's path
 * @param contentType the declared media type
 * @throws {TypeError} for an output that is not bytes
 */
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

/**
 * Encodes an output in a media type.
 * @param path the procedure's path
 * @throws {TypeError} if the writer returns neither a string nor bytes
 * @throws {LimitError} `response-bytes`, for JSON
 */
export function mediaBody(
  path: string,
  output: unknown,
  contentType: string,
  writer: true | MediaWriter,
  maxResponseBytes: number,
): HttpResponse['body'] {
  if (writer === true) return boundedJson(output, maxResponseBytes);
  const written: unknown = writer(output);
  return typeof written === 'string' ? written : byteBody(path, written, contentType);
}
