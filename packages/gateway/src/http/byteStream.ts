import type { HttpRequest } from './request.ts';

/**
 * Returns the body of a request as a stream. A chunk is read from the request only when the consumer reads one.
 * @param toError converts the error of a body that cannot be read into the error of the stream
 */
export function byteStream(
  request: HttpRequest,
  maxBytes: number,
  toError: (cause: unknown) => unknown,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let chunks: AsyncIterator<Uint8Array<ArrayBuffer>> | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          chunks ??= request.bodyChunks(maxBytes)[Symbol.asyncIterator]();
          const chunk = await chunks.next();
          if (chunk.done) controller.close();
          else controller.enqueue(chunk.value);
        } catch (cause) {
          throw toError(cause);
        }
      },
      async cancel() {
        await chunks?.return?.();
      },
    },
    // With the default, the stream would fill its buffer before the first read.
    { highWaterMark: 0 },
  );
}
