import { BodyTooLargeError, type HttpRequest } from '../request.ts';

/** A request without an adapter, for `handle` in the same process. */
export function inProcessRequest(
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body = '',
): HttpRequest {
  const [path = '', query = ''] = target.split('?');
  const bytes = new TextEncoder().encode(body);
  return {
    method,
    path,
    query,
    header: (name) => headers[name],
    headers: () => Object.entries(headers),
    remoteAddress: () => '127.0.0.1',
    isAborted: false,
    signal: new AbortController().signal,
    body: async (maxBytes) => {
      if (bytes.byteLength > maxBytes) throw new BodyTooLargeError(maxBytes);
      return bytes;
    },
    bodyChunks: async function* () {
      yield bytes;
    },
  };
}
