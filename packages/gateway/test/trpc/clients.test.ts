import { setTimeout as sleep } from 'node:timers/promises';
import { everyForm } from '@petstore/testing/forms';
import {
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
  type TRPCLink,
} from '@trpc/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { rawRequest, rawSocket } from '../wire/rawSocket.ts';
import { callLinks, clientOf, quickRetry, subscriptionLinks, type Endpoints } from './clients.ts';
import { collect } from './collect.ts';
import { serveGateway } from './gatewayServer.ts';
import { serveOfficial } from './officialServer.ts';
import type { RpcRouter } from './rpcRouter.ts';
import { startWith, type Running, type Start } from './start.ts';

/**
 * Real clients of a tRPC server: `@trpc/client` with every link, and the packages `eventsource` and `ws`. Each test passes on
 * tRPC's own adapters and on the gateway; `adapterDifferences` lists the exceptions with reasons. What clients
 * cannot tell apart is compared byte for byte: by `overPort`, and by `sameResponses` and `sameMessages` beside the protocol.
 */
function trpcClients(start: Start): void {
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
        const seen = collect(clientOf(link(endpoints)).count, { to: 200 });
        await seen.ended;
        expect(seen.data).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
        expect(seen.error).toBeUndefined();
        expect(seen.events.filter((event) => /^(started|stopped|complete)$/.test(event))).toEqual([
          'started',
          'stopped',
          'complete',
        ]);
      });

      it('unsubscribing aborts the procedure’s signal', async () => {
        const { calls, endpoints } = await start();
        const seen = collect(clientOf(link(endpoints)).watch, undefined);
        await vi.waitFor(() => expect(seen.data).toHaveLength(1));
        seen.unsubscribe();
        await vi.waitFor(() => expect(calls.aborted('watch')).toBe(1));
        await vi.waitFor(() => expect(calls.count).toBe(0));
        expect(seen.error).toBeUndefined();
      });
    },
  );

  it('httpSubscriptionLink reconnects with Last-Event-ID after a retryable error', async () => {
    const { calls, endpoints, errors } = await start();
    const { events, http } = endpoints;
    const eventSourceOptions = { fetch: quickRetry(http.fetch) };
    const trpc = clientOf(httpSubscriptionLink({ ...events, eventSourceOptions }));
    const seen = collect(trpc.resumed, { to: 6 });
    await seen.ended;
    expect(seen.error).toBeUndefined();
    expect(seen.data.map(({ data }) => data.n)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(seen.events).toContain('connecting');
    expect(calls.started('resumed')).toBe(2);
    expect(errors).toEqual(['resumed SERVICE_UNAVAILABLE']);
  });

  it.each<[name: string, link: (options: Endpoints['http']) => TRPCLink<RpcRouter>, count: number]>([
    ['httpLink', httpLink, 1],
    ['httpBatchLink', httpBatchLink, 5],
    ['httpBatchStreamLink', httpBatchStreamLink, 5],
  ])('a client that aborts its calls over %s aborts the signal of each', async (_name, link, count) => {
    const running = await start();
    const controller = new AbortController();
    const trpc = clientOf(link(running.endpoints.http));
    const calls = Array.from({ length: count }, () =>
      trpc.slow.query({ ms: 60_000 }, { signal: controller.signal }),
    );
    await untilStarted(running, 'slow', count);
    controller.abort();
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringMatching(/abort/i) },
      });
    }
    expect(await callsAfterAbort(running, 'slow', count)).toEqual({ aborted: count, live: 0 });
  });

  it('a client that aborts a stream of JSON lines aborts the procedure’s signal', async () => {
    const running = await start();
    const controller = new AbortController();
    const trpc = clientOf(httpBatchStreamLink(running.endpoints.http));
    const output = await trpc.forever.query(undefined, { signal: controller.signal });
    let received = 0;
    await expect(
      (async () => {
        for await (const value of output) {
          received = value;
          if (value === 3) controller.abort();
        }
      })(),
    ).rejects.toThrow(/abort/i);
    expect(received).toBeGreaterThanOrEqual(3);
    expect(await callsAfterAbort(running, 'forever')).toEqual({ aborted: 1, live: 0 });
  });

  it.each([
    ['server-sent events', 'floodEvents', rawRequest('/trpc/floodEvents')],
    [
      'JSON lines',
      'floodLines',
      rawRequest('/trpc/floodLines?batch=1&input=%7B%7D', {
        headers: { 'trpc-accept': 'application/jsonl' },
      }),
    ],
  ])('the producer of %s pauses while the client does not read', async (_name, procedure, request) => {
    const running = await start();
    const socket = rawSocket(running.server.port, request);
    socket.pause();
    onTestFinished(() => {
      socket.destroy();
    });
    await untilStarted(running, procedure);
    // Wait until the system's socket buffers are full, which may take megabytes.
    let pulled = -1;
    await vi.waitFor(
      () => {
        const before = pulled;
        pulled = running.calls.pulled;
        expect(pulled).toBe(before);
      },
      { interval: 100 },
    );
    expect(pulled * 65_536).toBeLessThan(64 * 1_048_576);
    socket.resume();
    await vi.waitFor(() => expect(running.calls.pulled).toBeGreaterThan(pulled + 10));
    socket.destroy();
    expect(await callsAfterAbort(running, procedure)).toEqual({ aborted: 1, live: 0 });
  });
}

/** Waits until `count` calls are aborted and none is running, for at most 3 s. Returns both counts. */
async function callsAfterAbort({ calls }: Running, name: string, count = 1) {
  const end = performance.now() + 3000;
  while ((calls.aborted(name) < count || calls.count > 0) && performance.now() < end) await sleep(5);
  return { aborted: calls.aborted(name), live: calls.count };
}

const untilStarted = ({ calls }: Running, name: string, count = 1) =>
  vi.waitFor(() => expect(calls.started(name)).toBe(count));

describe('tRPC’s clients of the gateway', () => {
  trpcClients(startWith(serveGateway));
});
// tRPC's own adapters must pass the tests. The run of one adapter suffices for that.
describe.runIf(everyForm && adapterOfRun() === 'uws')('tRPC’s clients of its own adapters', () => {
  trpcClients(startWith(serveOfficial));
});
