import { setTimeout as sleep } from 'node:timers/promises';
import {
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
  wsLink,
  type TRPCLink,
} from '@trpc/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { clientOf, wsClient } from '../clients.ts';
import { collect } from '../collect.ts';
import { rawRequest, rawSocket, upgradeRequest } from '../rawHttp.ts';
import { frame } from '../webSocketFrame.ts';
import type { Running, Start } from '../start.ts';
import type { RpcRouter } from '../rpcRouter.ts';

const httpLinks: readonly (readonly [string, (options: { url: string }) => TRPCLink<RpcRouter>])[] = [
  ['httpLink', httpLink],
  ['httpBatchLink', httpBatchLink],
  ['httpBatchStreamLink', httpBatchStreamLink],
];

/** Waits until so many calls were told to stop and none is left, and says how it is then. */
async function afterwards({ calls }: Running, name: string, count = 1) {
  const end = performance.now() + 3000;
  while ((calls.aborted(name) < count || calls.count > 0) && performance.now() < end) await sleep(5);
  return { aborted: calls.aborted(name), live: calls.count };
}

const begun = ({ calls }: Running, name: string, count = 1) =>
  vi.waitFor(() => expect(calls.begun(name)).toBe(count), { timeout: 3000 });

/** A client that goes away stops what it asked for, however it goes. */
export function aborts(start: Start): void {
  describe('aborts reach the procedure’s signal', () => {
    it.each(httpLinks)('a query over %s', async (_name, link) => {
      const running = await start();
      const controller = new AbortController();
      const trpc = clientOf(link(running.place.http));
      const asked = trpc.slow.query({ ms: 60_000 }, { signal: controller.signal });
      await begun(running, 'slow');
      controller.abort();
      await expect(asked).rejects.toThrow(/abort/i);
      expect(await afterwards(running, 'slow')).toEqual({ aborted: 1, live: 0 });
    });

    it.each(httpLinks)('a mutation over %s', async (_name, link) => {
      const running = await start();
      const controller = new AbortController();
      const trpc = clientOf(link(running.place.http));
      const asked = trpc.slowWrite.mutate({ ms: 60_000 }, { signal: controller.signal });
      await begun(running, 'slowWrite');
      controller.abort();
      await expect(asked).rejects.toThrow(/abort/i);
      expect(await afterwards(running, 'slowWrite')).toEqual({ aborted: 1, live: 0 });
    });

    it.each(httpLinks.slice(1))('every call of a batch over %s', async (_name, link) => {
      const running = await start();
      const controller = new AbortController();
      const trpc = clientOf(link(running.place.http));
      const asked = Array.from({ length: 5 }, () =>
        trpc.slow.query({ ms: 60_000 }, { signal: controller.signal }),
      );
      await begun(running, 'slow', 5);
      controller.abort();
      expect((await Promise.allSettled(asked)).every(({ status }) => status === 'rejected')).toBe(true);
      expect(await afterwards(running, 'slow', 5)).toEqual({ aborted: 5, live: 0 });
    });

    it('one abort of several in a batch stops none, all of them stop all', async () => {
      const running = await start();
      const [first, second] = [new AbortController(), new AbortController()];
      const trpc = clientOf(httpBatchLink(running.place.http));
      const asked = [first, second].map(({ signal }) => trpc.slow.query({ ms: 60_000 }, { signal }));
      await begun(running, 'slow', 2);
      first.abort();
      await sleep(50);
      expect(running.calls.aborted('slow')).toBe(0);
      second.abort();
      await Promise.allSettled(asked);
      expect(await afterwards(running, 'slow', 2)).toEqual({ aborted: 2, live: 0 });
    });

    it('a stream of JSON lines that is left in the middle', async () => {
      const running = await start();
      const controller = new AbortController();
      const trpc = clientOf(httpBatchStreamLink(running.place.http));
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
      expect(await afterwards(running, 'forever')).toEqual({ aborted: 1, live: 0 });
    });

    it('the body of a native fetch that is cancelled', async () => {
      const running = await start();
      const response = await running.place.http.fetch(
        `${running.place.http.url}/ticks?input=%7B%22everyMs%22%3A5%7D`,
      );
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
      expect(await afterwards(running, 'ticks')).toEqual({ aborted: 1, live: 0 });
    });

    it('a subscription over SSE, by its signal', async () => {
      const running = await start();
      const controller = new AbortController();
      const trpc = clientOf(httpSubscriptionLink(running.place.events));
      const seen = collect(trpc.watch, undefined, controller.signal);
      await vi.waitFor(() => expect(seen.data).toHaveLength(1));
      controller.abort();
      expect(await afterwards(running, 'watch')).toEqual({ aborted: 1, live: 0 });
    });

    it('a subscription over WebSocket, by its signal', async () => {
      const running = await start();
      const controller = new AbortController();
      const trpc = clientOf(wsLink({ client: wsClient(running.place) }));
      const seen = collect(trpc.watch, undefined, controller.signal);
      await vi.waitFor(() => expect(seen.data).toHaveLength(1));
      controller.abort();
      expect(await afterwards(running, 'watch')).toEqual({ aborted: 1, live: 0 });
    });

    it('every subscription of a WebSocket that is closed', async () => {
      const running = await start();
      const client = wsClient(running.place);
      const trpc = clientOf(wsLink({ client }));
      const seen = Array.from({ length: 3 }, () => collect(trpc.watch, undefined));
      await vi.waitFor(() => expect(seen.every(({ data }) => data.length === 1)).toBe(true));
      await client.close();
      expect(await afterwards(running, 'watch', 3)).toEqual({ aborted: 3, live: 0 });
    });

    it.each(['destroy', 'resetAndDestroy'] as const)(
      'a socket that is gone (%s) during a call',
      async (how) => {
        const running = await start();
        const input = encodeURIComponent('{"ms":60000}');
        const socket = rawSocket(running.server.port, rawRequest(`/trpc/slow?input=${input}`));
        await begun(running, 'slow');
        socket[how]();
        expect(await afterwards(running, 'slow')).toEqual({ aborted: 1, live: 0 });
      },
    );

    it.each(['destroy', 'resetAndDestroy'] as const)(
      'a WebSocket’s socket that is gone (%s)',
      async (how) => {
        const running = await start();
        const socket = rawSocket(running.server.port, upgradeRequest('/trpc'));
        await new Promise((resolve) => {
          socket.once('data', resolve);
        });
        socket.write(frame('{"id":1,"method":"subscription","params":{"path":"watch"}}'));
        await begun(running, 'watch');
        socket[how]();
        expect(await afterwards(running, 'watch')).toEqual({ aborted: 1, live: 0 });
      },
    );
  });

  describe('backpressure', () => {
    it.each([
      ['server-sent events', 'floodEvents', rawRequest('/trpc/floodEvents')],
      [
        'JSON lines',
        'floodLines',
        rawRequest('/trpc/floodLines?batch=1&input=%7B%7D', {
          headers: { 'trpc-accept': 'application/jsonl' },
        }),
      ],
    ])('%s: the producer waits for a client that does not read', async (_name, procedure, request) => {
      const running = await start();
      const socket = rawSocket(running.server.port, request);
      socket.pause();
      onTestFinished(() => {
        socket.destroy();
      });
      await begun(running, procedure);
      // Until the buffers of the system are full, which may be megabytes.
      let pulled = -1;
      await vi.waitFor(
        () => {
          const before = pulled;
          pulled = running.calls.pulled;
          expect(pulled).toBe(before);
        },
        { interval: 100, timeout: 5000 },
      );
      expect(pulled * 65_536).toBeLessThan(64 * 1_048_576);
      socket.resume();
      await vi.waitFor(() => expect(running.calls.pulled).toBeGreaterThan(pulled + 10), { timeout: 3000 });
      socket.destroy();
      expect(await afterwards(running, procedure)).toEqual({ aborted: 1, live: 0 });
    });
  });
}
