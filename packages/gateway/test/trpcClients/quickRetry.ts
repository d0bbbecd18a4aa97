import type { EventSourceInit } from 'eventsource';
import type { Fetch } from '../fetch.ts';

/**
 * Returns a `fetch` for the package `eventsource` that makes it reconnect after 20 ms instead of 3 s: it inserts a `retry`
 * field before the server's bytes, which follow unchanged.
 */
export const quickRetry =
  (fetch: Fetch): NonNullable<EventSourceInit['fetch']> =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null || !response.ok) return response;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('retry: 20\n\n')),
    });
    // If the connection breaks, the reader of `readable` receives the same error.
    response.body.pipeTo(writable).catch(() => {});
    const { url: finalUrl, status, redirected, headers } = response;
    return { body: readable, url: finalUrl, status, redirected, headers };
  };
