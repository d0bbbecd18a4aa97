import type { BodyStream } from '../../http/response.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { Content } from './restOperation.ts';

/**
 * The body of an output of bytes.
 * @param contentType its media type, where it does not have its own
 * @throws {TypeError} for an output that is not bytes
 */
export function byteContent(output: unknown, contentType: string): Content {
  const headers = [['content-type', contentType]] as const;
  if (output instanceof Uint8Array) return { headers, body: output };
  if (output instanceof Blob) {
    const own = output.type === '' ? headers : ([['content-type', output.type]] as const);
    return { headers: own, body: pulled(output.stream()) };
  }
  if (output instanceof ReadableStream) return { headers, body: pulled(output) };
  if (isAsyncIterable(output)) return { headers, body: checked(output) };
  throw new TypeError(
    `Its metadata declares produces: "${contentType}" but it returned a ${typeof output}. ` +
      'Return a Uint8Array, Blob, ReadableStream or AsyncIterable<Uint8Array>.',
  );
}

/** A generator, or a stream of Node's, which holds a file until it is destroyed. */
type Source = AsyncIterable<unknown> & { readonly destroy?: () => void };

/** Only bytes: a text has no known encoding. */
function checked(source: Source): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]();
      const stop = async () => {
        // The iterator of a stream of Node's does nothing before it has begun.
        source.destroy?.();
        await iterator.return?.();
      };
      return {
        async next() {
          const { done, value } = await iterator.next();
          if (done) return { done, value: undefined };
          if (value instanceof Uint8Array) return { done: false, value };
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

/** A stream whose `return` cancels it at once: its own iterator's would wait for the chunk that is pending. */
function pulled(stream: ReadableStream<unknown>): BodyStream {
  return checked({
    [Symbol.asyncIterator]() {
      const reader = stream.getReader();
      return {
        async next() {
          const { done, value } = await reader.read();
          return done ? { done, value: undefined } : { done, value };
        },
        async return(value) {
          await reader.cancel();
          return { done: true, value };
        },
      };
    },
  });
}
