import type { TRPCLink } from '@trpc/client';
import { describe, expect, it, vi } from 'vitest';
import { clientOf, subscriptionLinks, type Endpoints } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';
import type { RpcRouter } from '../rpcRouter.ts';

const links = Object.entries<(endpoints: Endpoints) => TRPCLink<RpcRouter>>(subscriptionLinks);

/** Subscriptions over each link that carries them, with the same results over both. */
export function subscriptions(start: Start): void {
  describe.each(links)('subscriptions over %s', (_name, link) => {
    const client = async () => {
      const running = await start();
      return { ...running, client: clientOf(link(running.endpoints)) };
    };

    it('a subscription emits started, every event in order, stopped and complete', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.count, { to: 200 });
      await seen.ended;
      expect(seen.data).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
      expect(seen.error).toBeUndefined();
      expect(seen.events.filter((event) => /^(started|stopped|complete)$/.test(event))).toEqual([
        'started',
        'stopped',
        'complete',
      ]);
    });

    it('a subscription without callbacks is an async iterable, and leaving its loop aborts the procedure', async () => {
      const { client: trpc, calls } = await client();
      const received: number[] = [];
      for await (const { data } of trpc.ticks.subscribe({ everyMs: 5 })) {
        received.push(data.n);
        if (data.n === 3) break;
      }
      expect(received).toEqual([1, 2, 3]);
      await vi.waitFor(() => expect(calls.aborted('ticks')).toBe(1));
      await vi.waitFor(() => expect(calls.count).toBe(0));
    });

    it('unsubscribing aborts the procedure’s signal', async () => {
      const { client: trpc, calls } = await client();
      const seen = collect(trpc.watch, undefined);
      await vi.waitFor(() => expect(seen.data).toHaveLength(1));
      seen.unsubscribe();
      await vi.waitFor(() => expect(calls.aborted('watch')).toBe(1));
      await vi.waitFor(() => expect(calls.count).toBe(0));
      expect(seen.error).toBeUndefined();
    });
  });
}
