import { retryLink, type TRPCLink } from '@trpc/client';
import { describe, expect, it, vi } from 'vitest';
import { clientOf, subscriptionLinks, type Endpoints } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';
import type { RpcRouter } from '../rpcRouter.ts';

const links = Object.entries<(endpoints: Endpoints) => TRPCLink<RpcRouter>>(subscriptionLinks);

/** Subscriptions over each link that carries them, with the same results over both. */
export function subscriptions(start: Start): void {
  describe.each(links)('subscriptions over %s', (name, link) => {
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

    it.each([
      ['before the first event', 'failsBefore', undefined, [], 'Before the first event'],
      ['after two events', 'failsAfter', 2, [1, 2], 'After 2 events'],
      ['before the stream exists', 'throwsAtOnce', undefined, [], 'Before there was a stream'],
      ['of an observable', 'observedFails', undefined, [1], 'The observable failed'],
    ] as const)(
      'an error %s reaches the client with the fields of errorFormatter',
      async (_when, path, input, data, message) => {
        const { client: trpc, errors } = await client();
        const procedure = trpc[path] as unknown as {
          subscribe: (input: unknown) => AsyncIterable<number>;
        };
        const seen = collect(procedure, input);
        await seen.ended;
        expect(seen.data).toEqual(data);
        expect(seen.error).toMatchObject({
          message,
          data: { code: 'CONFLICT', httpStatus: 409, path, formatted: 'by the formatter' },
        });
        // Over SSE, an error before the stream exists is reported twice: for the call and for the stream.
        expect(new Set(errors)).toEqual(new Set([`${path} CONFLICT`]));
      },
    );

    it('unsubscribing aborts the procedure’s signal', async () => {
      const { client: trpc, calls } = await client();
      const seen = collect(trpc.watch, undefined);
      await vi.waitFor(() => expect(seen.data).toHaveLength(1));
      seen.unsubscribe();
      await vi.waitFor(() => expect(calls.aborted('watch')).toBe(1));
      await vi.waitFor(() => expect(calls.count).toBe(0));
      expect(seen.error).toBeUndefined();
    });

    it('unsubscribing tears down an observable', async () => {
      const { client: trpc, calls } = await client();
      const seen = collect(trpc.observedForever, undefined);
      await vi.waitFor(() => expect(seen.data).toHaveLength(1));
      expect(calls.count).toBe(1);
      seen.unsubscribe();
      await vi.waitFor(() => expect(calls.count).toBe(0));
    });

    it('retryLink resumes after the last tracked event', async () => {
      const { endpoints } = await client();
      const trpc = clientOf(
        retryLink({ retry: ({ error, attempts }) => attempts < 4 && error.data?.code === 'CONFLICT' }),
        link(endpoints),
      );
      const seen = collect(trpc.numbered, { to: 6, failAt: 4, failWith: 'CONFLICT' });
      await seen.ended;
      expect(seen.error).toBeUndefined();
      expect(seen.data.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
    });
  });
}
