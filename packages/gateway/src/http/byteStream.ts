import type { HttpRequest } from './request.ts';

/**
 * The body of a request as a stream that is read no further than its consumer asks. Nothing is read before.
 * @param toError the error of the stream where the body cannot be read
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
    // A stream's own buffer would be filled before its consumer asks.
    { highWaterMark: 0 },
  );
}
