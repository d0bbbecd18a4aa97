import { createTRPCClient, retryLink, type TRPCLink } from '@trpc/client';
import { describe, expect, it, vi } from 'vitest';
import { clientOf, subscriptionLinks, superjsonSubscriptionLinks, type Place } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';
import { richValue, superjsonRouter, type SuperjsonRouter, type RpcRouter } from '../rpcRouter.ts';

const links = Object.entries<(place: Place) => TRPCLink<RpcRouter>>(subscriptionLinks);
const transformingLinks =
  Object.entries<(place: Place) => TRPCLink<SuperjsonRouter>>(superjsonSubscriptionLinks);

/** Subscriptions, over each link that carries them: what they say is the same over both. */
export function subscriptions(start: Start): void {
  describe.each(links)('subscriptions over %s', (name, link) => {
    const client = async () => {
      const running = await start();
      return { ...running, client: clientOf(link(running.place)) };
    };

    it('start, every event in order, the end', async () => {
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

    it('without callbacks it is iterated, and leaving the loop ends it', async () => {
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

    it('no event at all, and the end', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.count, { to: 0 });
      await seen.ended;
      expect(seen).toMatchObject({ data: [], error: undefined });
    });

    it('tracked events come with their ids', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.numbered, { from: 7, to: 8 });
      await seen.ended;
      expect(seen.data).toEqual([
        { id: '7', data: { n: 7 } },
        { id: '8', data: { n: 8 } },
      ]);
    });

    it('tracked and untracked events together', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.mixed, undefined);
      await seen.ended;
      expect(seen.data).toEqual([{ id: 'a', data: 1 }, 2, { id: 'b', data: 3 }]);
    });

    it('an observable: its values, its end, its teardown', async () => {
      const { client: trpc, calls } = await client();
      const seen = collect(trpc.observed, 3);
      await seen.ended;
      expect(seen.data).toEqual([1, 2, 3]);
      expect(calls.begun('observed')).toBe(1);
      await vi.waitFor(() => expect(calls.count).toBe(0));
    });

    it.each([
      ['before the first event', 'failsBefore', undefined, [], 'Before the first event'],
      ['after two events', 'failsAfter', 2, [1, 2], 'After 2 events'],
      ['before there is a stream', 'throwsAtOnce', undefined, [], 'Before there was a stream'],
      ['of an observable', 'observedFails', undefined, [1], 'The observable failed'],
    ] as const)('an error %s reaches the client, formatted', async (_when, path, input, data, message) => {
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
      // Over SSE, an error before there is a stream is told twice: as the call's and as the stream's.
      expect(new Set(errors)).toEqual(new Set([`${path} CONFLICT`]));
    });

    it('an input that the schema refuses', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.count, { to: 'many' as unknown as number });
      await seen.ended;
      expect(seen.error).toMatchObject({ data: { code: 'BAD_REQUEST', path: 'count' } });
    });

    it('a lazy router', async () => {
      const { client: trpc } = await client();
      const seen = collect(trpc.later.count, undefined);
      await seen.ended;
      expect(seen.data).toEqual([1, 2]);
    });

    it('several at once, each with its own events', async () => {
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

    it('unsubscribing tears an observable down', async () => {
      const { client: trpc, calls } = await client();
      const seen = collect(trpc.observedForever, undefined);
      await vi.waitFor(() => expect(seen.data).toHaveLength(1));
      expect(calls.count).toBe(1);
      seen.unsubscribe();
      await vi.waitFor(() => expect(calls.count).toBe(0));
    });

    it('retryLink goes on after the last tracked event', async () => {
      const { place } = await client();
      const trpc = clientOf(
        retryLink({ retry: ({ error, attempts }) => attempts < 4 && error.data?.code === 'CONFLICT' }),
        link(place),
      );
      const seen = collect(trpc.numbered, { to: 6, failAt: 4, failWith: 'CONFLICT' });
      await seen.ended;
      expect(seen.error).toBeUndefined();
      expect(seen.data.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
    });

    it('a procedure that gives no stream is an error', async () => {
      const { client: trpc, errors } = await client();
      const seen = collect(trpc.notIterable, undefined);
      // Over SSE the client waits this code out: it says that it connects anew. Over WebSocket it ends.
      const outcome = name === 'wsLink' ? 'error' : 'connecting';
      await vi.waitFor(() => expect(errors).toContain('notIterable INTERNAL_SERVER_ERROR'));
      await vi.waitFor(() => expect(seen.events.at(-1)).toBe(outcome));
    });
  });

  describe.each(transformingLinks)('a transformer (superjson) over %s', (_name, link) => {
    const client = async () => {
      const { place } = await start({ router: superjsonRouter });
      return createTRPCClient<SuperjsonRouter>({ links: [link(place)] });
    };

    it('events are transformed, tracked ones too', async () => {
      const trpc = await client();
      const seen = collect(trpc.events, undefined);
      await seen.ended;
      expect(seen.data).toEqual([
        { id: '1', data: richValue() },
        { id: '2', data: richValue() },
      ]);
    });

    it('a serialised error is transformed too', async () => {
      const trpc = await client();
      const seen = collect(trpc.eventsFail, undefined);
      await seen.ended;
      expect(seen.data).toEqual([richValue()]);
      expect(seen.error).toMatchObject({ message: 'Transformed too', data: { code: 'CONFLICT' } });
    });
  });
}
