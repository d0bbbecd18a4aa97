import type { EventSourceInit } from 'eventsource';
import type { Fetch } from '../fetch.ts';

/**
 * A `fetch` for the EventSource package that asks it, in the stream's own words, to reconnect after 20 ms in place of
 * its 3 s: a `retry` field in front of what the server sends. The server's bytes follow as they came.
 */
export const quickRetry =
  (fetch: Fetch): NonNullable<EventSourceInit['fetch']> =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null || !response.ok) return response;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('retry: 20\n\n')),
    });
    // A connection that breaks ends both sides: its reader sees the same error.
    response.body.pipeTo(writable).catch(() => {});
    const { url: finalUrl, status, redirected, headers } = response;
    return { body: readable, url: finalUrl, status, redirected, headers };
  };
