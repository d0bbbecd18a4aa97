import { createTRPCClient, retryLink, type TRPCLink } from '@trpc/client';
import { describe, expect, it, vi } from 'vitest';
import { clientOf, subscriptionLinks, superjsonSubscriptionLinks, type Endpoints } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';
import { richValue, superjsonRouter, type SuperjsonRouter, type RpcRouter } from '../rpcRouter.ts';

const links = Object.entries<(endpoints: Endpoints) => TRPCLink<RpcRouter>>(subscriptionLinks);
const transformingLinks =
  Object.entries<(endpoints: Endpoints) => TRPCLink<SuperjsonRouter>>(superjsonSubscriptionLinks);

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

    it('a subscription without events completes', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.count, { to: 0 });
      await seen.ended;
      expect(seen).toMatchObject({ data: [], error: undefined });
    });

    it('tracked events arrive with their ids', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.numbered, { from: 7, to: 8 });
      await seen.ended;
      expect(seen.data).toEqual([
        { id: '7', data: { n: 7 } },
        { id: '8', data: { n: 8 } },
      ]);
    });

    it('a subscription may mix tracked and untracked events', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.mixed, undefined);
      await seen.ended;
      expect(seen.data).toEqual([{ id: 'a', data: 1 }, 2, { id: 'b', data: 3 }]);
    });

    it('an observable emits its values, completes and is torn down', async () => {
      const { client: trpc, calls } = await client();
      const seen = collect(trpc.observed, 3);
      await seen.ended;
      expect(seen.data).toEqual([1, 2, 3]);
      expect(calls.started('observed')).toBe(1);
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

    it('a subscription input that the schema rejects is BAD_REQUEST', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.count, { to: 'many' as unknown as number });
      await seen.ended;
      expect(seen.error).toMatchObject({ data: { code: 'BAD_REQUEST', path: 'count' } });
    });

    it('a subscription of a lazy router emits its events', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.later.count, undefined);
      await seen.ended;
      expect(seen.data).toEqual([1, 2]);
    });

    it('concurrent subscriptions each receive their own events', async () => {
      const { client: trpc } = await client();
      const seen = Array.from({ length: 20 }, (_, n) =>
        collect(trpc.count, { from: n * 100, to: n * 100 + 9 }),
      );
      await Promise.all(seen.map(({ ended }) => ended));
      for (const [n, { data }] of seen.entries())
        expect(data).toEqual(Array.from({ length: 10 }, (_, k) => n * 100 + k));
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

    it('a subscription that returns no iterable is INTERNAL_SERVER_ERROR', async () => {
      const { client: trpc, errors } = await client();
      const seen = collect(trpc.notIterable, undefined);
      // Over SSE the client retries this code, so its state is connecting. Over WebSocket the subscription ends.
      const outcome = name === 'wsLink' ? 'error' : 'connecting';
      await vi.waitFor(() => expect(errors).toContain('notIterable INTERNAL_SERVER_ERROR'));
      await vi.waitFor(() => expect(seen.events.at(-1)).toBe(outcome));
    });
  });

  describe.each(transformingLinks)('superjson subscriptions over %s', (_name, link) => {
    const client = async () => {
      const { endpoints } = await start({ router: superjsonRouter });
      return createTRPCClient<SuperjsonRouter>({ links: [link(endpoints)] });
    };

    it('superjson transforms events, including tracked ones', async () => {
      const trpc = await client();
      const seen = collect(trpc.events, undefined);
      await seen.ended;
      expect(seen.data).toEqual([
        { id: '1', data: richValue() },
        { id: '2', data: richValue() },
      ]);
    });

    it('superjson transforms the error that ends a stream', async () => {
      const trpc = await client();
      const seen = collect(trpc.eventsFail, undefined);
      await seen.ended;
      expect(seen.data).toEqual([richValue()]);
      expect(seen.error).toMatchObject({ message: 'Transformed too', data: { code: 'CONFLICT' } });
    });
  });
}
