import { httpLink, httpSubscriptionLink, wsLink } from '@trpc/client';
import { describe, expect, it, vi } from 'vitest';
import { clientOf, wsClient } from '../clients.ts';
import { collect } from '../collect.ts';
import { quickRetry } from '../quickRetry.ts';
import type { Start } from '../start.ts';

/** HTTP, SSE and WebSocket on one port, and a server that is replaced by another on the same port. */
export function onePort(start: Start): void {
  describe('a shared port', () => {
    it('one port serves HTTP, server-sent events and WebSockets at the same time', async () => {
      const { endpoints } = await start();
      const events = clientOf(httpSubscriptionLink(endpoints.events));
      const sockets = clientOf(wsLink({ client: wsClient(endpoints) }));
      const seen = [events, sockets].map((trpc) => collect(trpc.count, { to: 20, everyMs: 2 }));
      expect(await clientOf(httpLink(endpoints.http)).hello.query()).toBe('Hello, world!');
      await Promise.all(seen.map(({ ended }) => ended));
      for (const { data } of seen) expect(data).toHaveLength(20);
    });

    it('subscriptions over SSE and WebSocket resume without loss when another server takes over the port', async () => {
      const first = await start();
      const events = clientOf(
        httpSubscriptionLink({
          ...first.endpoints.events,
          eventSourceOptions: { fetch: quickRetry(first.endpoints.http.fetch) },
        }),
      );
      const sockets = clientOf(wsLink({ client: wsClient(first.endpoints) }));
      const seen = [events, sockets].map((trpc) => collect(trpc.numbered, { to: 40, everyMs: 15 }));
      await vi.waitFor(() => expect(seen.every(({ data }) => data.length > 5)).toBe(true));
      const stopping = performance.now();
      await first.server.close();
      expect(performance.now() - stopping).toBeLessThan(2000);
      await vi.waitFor(() => expect(first.calls.count).toBe(0));
      await start({ port: first.server.port });
      await Promise.all(seen.map(({ ended }) => ended));
      for (const { data, error } of seen) {
        expect(error).toBeUndefined();
        expect(data.map((event) => event.data.n)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
      }
    });
  });
}
