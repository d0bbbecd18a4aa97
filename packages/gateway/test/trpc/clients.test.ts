import { everyForm } from '@petstore/testing/forms';
import { httpBatchLink, httpBatchStreamLink, httpLink, type TRPCLink } from '@trpc/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { callLinks, clientOf, subscriptionLinks, type Endpoints } from './clients.ts';
import type { RpcRouter } from './rpcRouter.ts';
import { serveGateway, serveOfficial, startRpc } from './rpcServers.ts';

/**
 * Real clients, with every link of `@trpc/client`, `eventsource` and `ws`, pass on tRPC's own adapters and on the
 * gateway, except `adapterDifferences`. `sameResponses` and `sameMessages` compare bytes.
 */
function trpcClients(serve: typeof serveGateway): void {
  const start = () => startRpc(serve);

  describe.each(Object.entries<(endpoints: Endpoints) => TRPCLink<RpcRouter>>(callLinks))(
    'calls over %s',
    (name, link) => {
      it('a query and a mutation resolve to their outputs, and an error has the fields of errorFormatter', async () => {
        const { endpoints, errors } = await start();
        const trpc = clientOf(link(endpoints));
        expect(await trpc.hello.query()).toBe('Hello, world!');
        expect(await trpc.write.mutate({ name: 'Ünïcødé 🐶' })).toEqual({ id: 1, name: 'Ünïcødé 🐶' });
        await expect(trpc.conflict.query()).rejects.toMatchObject({
          name: 'TRPCClientError',
          message: 'This is a conflict',
          data: { code: 'CONFLICT', httpStatus: 409, formatted: 'by the formatter' },
        });
        expect(errors).toEqual(['conflict CONFLICT']);
      });

      it.skipIf(name === 'httpLink')(
        '1,000 queries and 1,000 mutations of one tick are answered',
        async () => {
          const { endpoints } = await start();
          const trpc = clientOf(link(endpoints));
          const each = Array.from({ length: 1000 }, (_, index) => `${index}`);
          expect(await Promise.all(each.map(() => trpc.hello.query()))).toEqual(
            each.map(() => 'Hello, world!'),
          );
          const things = await Promise.all(each.map((text) => trpc.write.mutate({ name: text })));
          expect(things.map((thing) => thing.name)).toEqual(each);
          const waited = await Promise.all(each.map(() => trpc.slowWrite.mutate({ ms: 1 })));
          expect(waited).toEqual(each.map(() => 'written'));
        },
      );
    },
  );

  it('httpBatchStreamLink resolves each call as soon as it completes', async () => {
    const { endpoints } = await start();
    const trpc = clientOf(httpBatchStreamLink(endpoints.http));
    const order: string[] = [];
    await Promise.all([
      trpc.slow.query({ ms: 150 }).then(() => order.push('slow')),
      trpc.slow.query({ ms: 50 }).then(() => order.push('less slow')),
      trpc.hello.query().then(() => order.push('quick')),
      trpc.conflict.query().catch(() => order.push('failed')),
    ]);
    expect(order).toHaveLength(4);
    expect(order.slice(-2)).toEqual(['less slow', 'slow']);
  });

  describe.each(Object.entries<(endpoints: Endpoints) => TRPCLink<RpcRouter>>(subscriptionLinks))(
    'subscriptions over %s',
    (_name, link) => {
      it('a subscription emits started, every event in order, stopped and complete', async () => {
        const { endpoints } = await start();
        const seen: unknown[] = [];
        await new Promise<void>((resolve, reject) => {
          const subscription = clientOf(link(endpoints)).count.subscribe(
            { to: 200 },
            {
              onStarted: () => seen.push('started'),
              onData: (n) => seen.push(n),
              onStopped: () => seen.push('stopped'),
              onComplete: resolve,
              onError: reject,
            },
          );
          onTestFinished(() => subscription.unsubscribe());
        });
        expect(seen).toEqual(['started', ...Array.from({ length: 200 }, (_, n) => n + 1), 'stopped']);
      });

      it('unsubscribing aborts the procedure’s signal', async () => {
        const { calls, endpoints } = await start();
        const onError = vi.fn();
        const onData = vi.fn();
        const subscription = clientOf(link(endpoints)).watch.subscribe(undefined, { onData, onError });
        onTestFinished(() => subscription.unsubscribe());
        await vi.waitFor(() => expect(onData).toHaveBeenCalledOnce());
        subscription.unsubscribe();
        await vi.waitFor(() => expect([calls.aborted, calls.running]).toEqual([1, 0]));
        expect(onError).not.toHaveBeenCalled();
      });
    },
  );

  it.each<[name: string, link: (options: Endpoints['http']) => TRPCLink<RpcRouter>, count: number]>([
    ['httpLink', httpLink, 1],
    ['httpBatchLink', httpBatchLink, 5],
    ['httpBatchStreamLink', httpBatchStreamLink, 5],
  ])('a client that aborts its calls over %s aborts the signal of each', async (_name, link, count) => {
    const { calls, endpoints } = await start();
    const controller = new AbortController();
    const trpc = clientOf(link(endpoints.http));
    const results = Array.from({ length: count }, () =>
      trpc.slow.query({ ms: 60_000 }, { signal: controller.signal }),
    );
    await vi.waitFor(() => expect(calls.started).toBe(count));
    controller.abort();
    for (const result of await Promise.allSettled(results)) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringMatching(/abort/i) },
      });
    }
    await vi.waitFor(() => expect([calls.aborted, calls.running]).toEqual([count, 0]));
  });
}

describe('tRPC’s clients of the gateway', () => {
  trpcClients(serveGateway);
});
// tRPC's own adapters must pass the tests. The run of one adapter suffices for that.
describe.runIf(everyForm && adapterOfRun() === 'uws')('tRPC’s clients of its own adapters', () => {
  trpcClients(serveOfficial);
});
