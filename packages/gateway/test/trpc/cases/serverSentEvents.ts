import { httpSubscriptionLink } from '@trpc/client';
import { EventSource } from 'eventsource';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { clientOf, quickRetry, type Endpoints } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';

const sseClient = (endpoints: Endpoints, options: Partial<Parameters<typeof httpSubscriptionLink>[0]> = {}) =>
  clientOf(
    httpSubscriptionLink({
      ...endpoints.events,
      eventSourceOptions: { fetch: quickRetry(endpoints.http.fetch) },
      ...(options as object),
    }),
  );

const inputOf = (input: object) => `input=${encodeURIComponent(JSON.stringify(input))}`;

/** Features of server-sent events: pings, reconnection, time limits, parameters in the URL. */
export function serverSentEvents(start: Start): void {
  describe('server-sent events', () => {
    it('httpSubscriptionLink does not pass pings to onData', async () => {
      const { endpoints } = await start({ streams: { sse: { ping: { enabled: true, intervalMs: 10 } } } });
      const seen = collect(sseClient(endpoints).count, { to: 3, everyMs: 40 });
      await seen.ended;
      expect(seen.data).toEqual([1, 2, 3]);
    });

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

    it('a native EventSource receives the events, their ids and the return event', async () => {
      const { endpoints } = await start();
      const source = new EventSource(`${endpoints.http.url}/numbered?${inputOf({ to: 3 })}`, endpoints.http);
      onTestFinished(() => source.close());
      const ids: string[] = [];
      source.addEventListener('message', ({ lastEventId }) => ids.push(lastEventId));
      await new Promise((resolve) => {
        source.addEventListener('return', resolve);
      });
      expect(ids).toEqual(['1', '2', '3']);
    });

    it('closing a native EventSource aborts the procedure’s signal', async () => {
      const { endpoints, calls } = await start();
      const source = new EventSource(`${endpoints.http.url}/watch`, endpoints.http);
      await vi.waitFor(() => expect(calls.count).toBe(1));
      source.close();
      await vi.waitFor(() => expect(calls.aborted('watch')).toBe(1));
      await vi.waitFor(() => expect(calls.count).toBe(0));
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

    it('sse.emitAndEndImmediately ends the stream after the first event, and the client reconnects for the next', async () => {
      const { endpoints, calls } = await start({ streams: { sse: { emitAndEndImmediately: true } } });
      const seen = collect(sseClient(endpoints).numbered, { to: 3, everyMs: 30 });
      await seen.ended;
      expect(seen.data.map(({ data }) => data.n)).toEqual([1, 2, 3]);
      expect(calls.started('numbered')).toBeGreaterThanOrEqual(3);
    });

    it('createContext receives connectionParams, whether a value or a function evaluated for each connection', async () => {
      const { endpoints, contexts } = await start();
      let connections = 0;
      const trpc = sseClient(endpoints, {
        connectionParams: async () => {
          connections += 1;
          return { token: `secret ${connections}` };
        },
      });
      const seen = collect(trpc.numbered, { to: 4, failAt: 3 });
      await seen.ended;
      expect(contexts.map(({ connectionParams }) => connectionParams)).toEqual([
        { token: 'secret 1' },
        expect.anything(),
      ]);
      const fixed = sseClient(endpoints, { connectionParams: { token: 'ümläut & more' } });
      const watched = collect(fixed.watch, undefined);
      await vi.waitFor(() => expect(watched.data).toHaveLength(1));
      expect(watched.data[0]).toMatchObject({
        connectionParams: { token: 'ümläut & more' },
        type: 'subscription',
        batch: false,
        calls: ['watch'],
        hasSignal: true,
      });
    });
  });
}
