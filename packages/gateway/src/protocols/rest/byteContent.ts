import type { BodyStream } from '../../http/response.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { Content } from './restOperation.ts';

/**
 * The body of an output of bytes.
 * @param contentType its media type, where it does not have its own
 * @throws {TypeError} for an output that is not bytes
 */
export function byteContent(output: unknown, contentType: string): Content {
  const type = output instanceof Blob && output.type !== '' ? output.type : contentType;
  const headers = [['content-type', type]] as const;
  if (output instanceof Uint8Array) return { headers, body: output };
  const source: unknown = output instanceof Blob ? output.stream() : output;
  if (source instanceof ReadableStream) return { headers, body: byteStream(() => readerOf(source)) };
  if (isAsyncIterable(source)) return { headers, body: byteStream(() => iteratorOf(source)) };
  throw new TypeError(
    `Its metadata declares produces: "${contentType}" but it returned a ${typeof output}. ` +
      'Return a Uint8Array, Blob, ReadableStream or AsyncIterable<Uint8Array>.',
  );
}

interface Chunks {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  stop(): Promise<unknown>;
}

/** Cancels at once: the stream's own iterator would wait for the pending chunk. */
function readerOf(stream: ReadableStream<unknown>): Chunks {
  const reader = stream.getReader();
  return { next: () => reader.read(), stop: () => reader.cancel() };
}

function iteratorOf(source: AsyncIterable<unknown> & { readonly destroy?: () => void }): Chunks {
  const iterator = source[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    async stop() {
      // A stream of Node's holds a file until it is destroyed, and its iterator does nothing before it has begun.
      source.destroy?.();
      await iterator.return?.();
    },
  };
}

/** Only bytes: a text has no known encoding. */
function byteStream(open: () => Chunks): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      const chunks = open();
      return {
        async next() {
          const { done, value } = await chunks.next();
          if (done) return { done, value: undefined };
          if (value instanceof Uint8Array) return { done: false, value };
          await chunks.stop();
          throw new TypeError(`A stream of bytes yielded a ${typeof value}. Yield Uint8Array chunks.`);
        },
        async return(value) {
          await chunks.stop();
          return { done: true, value };
        },
      };
    },
  };
}
