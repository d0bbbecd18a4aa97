import { httpSubscriptionLink } from '@trpc/client';
import { expect, it, vi } from 'vitest';
import { clientOf, quickRetry, type Endpoints } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';

const sseClient = ({ events, http }: Endpoints) =>
  clientOf(httpSubscriptionLink({ ...events, eventSourceOptions: { fetch: quickRetry(http.fetch) } }));

/** How a client of server-sent events reconnects. */
export function serverSentEvents(start: Start): void {
  it('sse.client.reconnectAfterInactivityMs makes the client reconnect after a silence', async () => {
    const { endpoints, calls } = await start({
      streams: { sse: { client: { reconnectAfterInactivityMs: 60 } } },
    });
    const seen = collect(sseClient(endpoints).watch, undefined);
    await vi.waitFor(() => expect(calls.started('watch')).toBeGreaterThanOrEqual(2));
    await vi.waitFor(() => expect(calls.aborted('watch')).toBeGreaterThanOrEqual(1));
    seen.unsubscribe();
  });

  it('httpSubscriptionLink reconnects with Last-Event-ID after a retryable error', async () => {
    const { endpoints, calls, errors } = await start();
    const seen = collect(sseClient(endpoints).numbered, { to: 6, failAt: 4 });
    await seen.ended;
    expect(seen.error).toBeUndefined();
    expect(seen.data.map(({ data }) => data.n)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(seen.events).toContain('connecting');
    expect(calls.started('numbered')).toBe(2);
    expect(errors).toEqual(['numbered SERVICE_UNAVAILABLE']);
  });

  it('sse.maxDurationMs ends the stream, and the client resumes after the last event', async () => {
    const { endpoints, calls } = await start({ streams: { sse: { maxDurationMs: 100 } } });
    const seen = collect(sseClient(endpoints).numbered, { to: 12, everyMs: 20 });
    await seen.ended;
    expect(seen.data.map(({ data }) => data.n)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
    expect(calls.started('numbered')).toBeGreaterThanOrEqual(2);
    expect(calls.aborted('numbered')).toBeGreaterThanOrEqual(1);
    expect(calls.count).toBe(0);
  });
}
