// Hot path: called for every request.
import type { HttpResponse } from '../../http/response.ts';
import { defaultBodyBytes, type Service } from '../../http/service.ts';
import { FetchRequest } from '../serve/fetchRequest.ts';
import { createResponse, onBun } from '../serve/fetchResponse.ts';
import { defaultRejection, internalErrorResponse } from '../serve/rejections.ts';
import { closeOption, headRejections } from '../serve/requestHead.ts';

/** Options of `gateway.fetch`. */
export interface FetchInit {
  readonly method?: string | undefined;
  readonly headers?: RequestInit['headers'] | undefined;
  /** `Uint8Array` with any buffer, as @trpc/client before 11.4.4 declares it. */
  readonly body?: RequestInit['body'] | Uint8Array | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Must be `half` if the body is a stream. */
  readonly duplex?: 'half' | undefined;
  /**
   * IP address of the client, from the server that received the request. Without it, `rateLimit` and `failedAttempts`
   * treat all clients as one, and `X-Forwarded-For` is not read.
   */
  readonly remoteAddress?: string | undefined;
}

/**
 * Handles a `Request` in this process. You can pass it to a tRPC client as its `fetch`: with a URL it creates the
 * `Request` as the global `fetch` does, and it rejects when the signal of `init` aborts. Otherwise it rejects only if
 * the request cannot be created or read: its URL is not `http:` or `https:`, its body was already read, `remoteAddress`
 * is not a string, or a member of an object in place of a `Request` throws. All other errors are responses.
 */
export type Fetch = (input: Request | URL | string, init?: FetchInit) => Promise<Response>;

export function createFetch({
  handle,
  maxBodySize = defaultBodyBytes,
  maxStreamSize = maxBodySize,
  rejectHttp = defaultRejection,
}: Service): Fetch {
  async function respond(request: Request, remoteAddress: unknown = ''): Promise<Response> {
    if (typeof remoteAddress !== 'string') {
      throw new TypeError('remoteAddress must be a string: the IP address of the client.');
    }
    if (request.bodyUsed) {
      throw new TypeError(
        'The body of this Request was already read. Call fetch before you read it, or with a clone of the Request.',
      );
    }
    const { url } = request;
    // On Bun, the URL of a request whose `Host` is missing or invalid is a path.
    const hasHost = !url.startsWith('/');
    if (hasHost && !url.startsWith('http:') && !url.startsWith('https:')) {
      throw new TypeError(`gateway.fetch needs an http: or https: URL, not "${url.slice(0, 100)}".`);
    }
    const received = new FetchRequest(request, maxBodySize, remoteAddress, maxStreamSize);
    let response: HttpResponse;
    try {
      response = hasHost ? await handle(received) : rejectHttp(received, headRejections.host);
    } catch {
      response = internalErrorResponse;
    }
    const native = createResponse(received, response);
    // Bun then closes the connection, but does not say so in the response.
    if (onBun && closeOption.test(received.header('connection') ?? ''))
      native.headers.set('connection', 'close');
    return native;
  }

  /** Handles a call in the style of the global `fetch`, with a URL or with an `init` that changes the request. */
  async function fetchWithInit(input: Request | URL | string, init: FetchInit): Promise<Response> {
    const request = new Request(input, init as RequestInit);
    if (!init.signal) return respond(request, init.remoteAddress);
    // Not `init.signal`: it may outlive thousands of requests, and would keep their listeners.
    const { signal } = request;
    signal.throwIfAborted();
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return Promise.race([respond(request, init.remoteAddress), aborted]);
  }

  return (input, init = {}) =>
    typeof input === 'object' && 'headers' in input && !changesRequest(init)
      ? respond(input, init.remoteAddress)
      : fetchWithInit(input, init);
}

/** Some servers pass a second argument that is not an `init`: Bun its server, Workers their bindings. */
const changesRequest = ({ method, headers, body, signal }: FetchInit) =>
  method !== undefined || headers !== undefined || body !== undefined || signal !== undefined;
