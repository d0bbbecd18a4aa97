import { setTimeout as sleep } from 'node:timers/promises';
import { httpBatchLink, httpBatchStreamLink, httpLink, type TRPCLink } from '@trpc/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { clientOf } from '../clients.ts';
import { rawRequest, rawSocket } from '../../wire/rawSocket.ts';
import type { Running, Start } from '../start.ts';
import type { RpcRouter } from '../rpcRouter.ts';

const httpLinks: readonly (readonly [string, (options: { url: string }) => TRPCLink<RpcRouter>])[] = [
  ['httpLink', httpLink],
  ['httpBatchLink', httpBatchLink],
  ['httpBatchStreamLink', httpBatchStreamLink],
];

/** Waits until `count` calls are aborted and none is running, for at most 3 s. Returns both counts. */
async function callsAfterAbort({ calls }: Running, name: string, count = 1) {
  const end = performance.now() + 3000;
  while ((calls.aborted(name) < count || calls.count > 0) && performance.now() < end) await sleep(5);
  return { aborted: calls.aborted(name), live: calls.count };
}

const untilStarted = ({ calls }: Running, name: string, count = 1) =>
  vi.waitFor(() => expect(calls.started(name)).toBe(count));

/** Aborts and backpressure: a client that disconnects stops its calls, and a slow reader pauses its producer. */
export function aborts(start: Start): void {
  it.each(
    httpLinks.flatMap(([name, link]) =>
      (['slow', 'slowWrite'] as const).map((procedure) => ({
        name,
        procedure,
        link,
        count: name === 'httpLink' ? 1 : 5,
      })),
    ),
  )(
    'aborting $count calls of $procedure over $name aborts the signal of each',
    async ({ procedure, link, count }) => {
      const running = await start();
      const controller = new AbortController();
      const trpc = clientOf(link(running.endpoints.http));
      const input = { ms: 60_000 };
      const calls = Array.from({ length: count }, () =>
        procedure === 'slow'
          ? trpc.slow.query(input, { signal: controller.signal })
          : trpc.slowWrite.mutate(input, { signal: controller.signal }),
      );
      await untilStarted(running, procedure, count);
      controller.abort();
      for (const result of await Promise.allSettled(calls)) {
        expect(result).toMatchObject({
          status: 'rejected',
          reason: { message: expect.stringMatching(/abort/i) },
        });
      }
      expect(await callsAfterAbort(running, procedure, count)).toEqual({ aborted: count, live: 0 });
    },
  );

  it('a batch is aborted when all of its calls are aborted, not when one is', async () => {
    const running = await start();
    const [first, second] = [new AbortController(), new AbortController()];
    const trpc = clientOf(httpBatchLink(running.endpoints.http));
    const calls = [first, second].map(({ signal }) => trpc.slow.query({ ms: 60_000 }, { signal }));
    await untilStarted(running, 'slow', 2);
    first.abort();
    await sleep(50);
    expect(running.calls.aborted('slow')).toBe(0);
    second.abort();
    await Promise.allSettled(calls);
    expect(await callsAfterAbort(running, 'slow', 2)).toEqual({ aborted: 2, live: 0 });
  });

  it('aborting a stream of JSON lines aborts the procedure’s signal', async () => {
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
