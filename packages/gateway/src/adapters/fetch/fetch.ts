import { defaultBodyBytes, type Service } from '../../http/service.ts';
import type { HttpResponse } from '../../http/response.ts';
import { internalError } from '../server/rejections.ts';
import { FetchRequest } from './request.ts';
import { responseOf } from './response.ts';

/** What `fetch` takes besides a `Request` or a URL. */
export interface FetchInit {
  readonly method?: string | undefined;
  readonly headers?: RequestInit['headers'] | undefined;
  readonly body?: RequestInit['body'] | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** `half`, where the body is a stream. */
  readonly duplex?: 'half' | undefined;
  /**
   * The client's IP address, from the server that received the request. Without it, all clients count as one for
   * `rateLimit` and `failedAttempts`, and `X-Forwarded-For` is not read.
   */
  readonly remoteAddress?: string | undefined;
}

/**
 * Answers a `Request`, in this process. It can be given to a client of tRPC as its `fetch`: with a URL it makes the
 * `Request` as `fetch` does, and rejects when the signal of `init` aborts. It rejects for nothing else but a request that
 * cannot be made, or whose body was already read: errors are responses.
 */
export type Fetch = (input: Request | URL | string, init?: FetchInit) => Promise<Response>;

/** Serves WHATWG requests. */
export function createFetch({
  handle,
  maxBodyBytes = defaultBodyBytes,
  maxStreamBytes = maxBodyBytes,
}: Service): Fetch {
  async function answer(request: Request, remoteAddress = ''): Promise<Response> {
    if (request.bodyUsed) {
      throw new TypeError(
        'The body of this Request was already read. Call fetch before it is read, or with a clone of it.',
      );
    }
    const received = new FetchRequest(request, maxBodyBytes, remoteAddress, maxStreamBytes);
    let response: HttpResponse;
    try {
      response = await handle(received);
    } catch {
      response = internalError;
    }
    return responseOf(received, response);
  }

  /** As a client calls `fetch`. */
  async function call(input: Request | URL | string, init: FetchInit): Promise<Response> {
    const made = new Request(input, init as RequestInit);
    if (!init.signal) return answer(made, init.remoteAddress);
    // Not the one of `init`, which may outlive thousands of requests.
    const { signal } = made;
    signal.throwIfAborted();
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return Promise.race([answer(made, init.remoteAddress), aborted]);
  }

  return (input, init = {}) =>
    typeof input === 'object' && 'headers' in input && !changesRequest(init)
      ? answer(input, init.remoteAddress)
      : call(input, init);
}

/** Servers pass other things than an `init` beside a `Request`, such as Bun its server and Workers their bindings. */
const changesRequest = ({ method, headers, body, signal }: FetchInit) =>
  method !== undefined || headers !== undefined || body !== undefined || signal !== undefined;
