import { LimitError } from '../../procedures/limitError.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';

/** Headers of which Node keeps the first where one is repeated, and so do the adapters that stand on it. */
const singletons = new Set(
  (
    'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since ' +
    'last-modified location max-forwards proxy-authorization referer retry-after server user-agent'
  ).split(' '),
);

/** A request as `resolveResponse` takes it. */
export function fetchRequest(request: HttpRequest, url: URL, maxBodyBytes: number): Request {
  const { method, signal } = request;
  const headers = new Headers();
  for (const [name, value] of request.headers()) {
    if (!singletons.has(name) || !headers.has(name)) headers.append(name, value);
  }
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal });
  return new Request(url, {
    method,
    headers,
    signal,
    body: requestBody(request, maxBodyBytes),
    duplex: 'half',
  });
}

/** With tRPC's own message. */
export const tooLarge = (): LimitError =>
  new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: 'PAYLOAD_TOO_LARGE' });

/** A body that nobody needs whole: all others are parsed as one. */
const octets = /^\s*application\/octet-stream\s*(;|$)/i;

/** The body as a stream that is read no further than it is asked for. */
function requestBody(request: HttpRequest, maxBodyBytes: number): ReadableStream<Uint8Array> {
  const isWhole = !octets.test(request.header('content-type') ?? '');
  const chunks = isWhole ? undefined : request.bodyChunks(maxBodyBytes)[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = chunks ? (await chunks.next()).value : await request.body(maxBodyBytes);
          if (bytes && bytes.byteLength > 0) controller.enqueue(bytes);
          if (isWhole || bytes === undefined) controller.close();
        } catch (cause) {
          controller.error(cause instanceof BodyTooLargeError ? tooLarge() : cause);
        }
      },
      async cancel() {
        await chunks?.return?.();
      },
    },
    // Nothing is read before somebody asks: a stream's own buffer would ask at once.
    { highWaterMark: 0 },
  );
}
