import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { eventTimes } from './eventsResponse.ts';
import type { TrpcSettings } from './options.ts';
import { testGateway } from '../../testing/testGateway.ts';

it('the signal of a subscription over HTTP aborts with the reason of the disconnect', async () => {
  const t = initTRPC.create({ isDev: false });
  const signals: (AbortSignal | undefined)[] = [];
  const router = t.router({
    watch: t.procedure.subscription(async function* ({ signal }) {
      signals.push(signal);
      yield 1;
      await new Promise(() => {});
    }),
  });
  const { fetch } = await testGateway(router);
  const disconnect = new AbortController();
  const headers = { accept: 'text/event-stream' };
  const request = new Request('http://localhost/trpc/watch', { headers, signal: disconnect.signal });
  const reader = (await fetch(request)).body?.getReader();
  while (signals.length === 0) await reader?.read();
  const reason = new Error('The client has left.');
  disconnect.abort(reason);
  expect(signals[0]?.reason).toBe(reason);
});

it.each<[sse: TrpcSettings['config']['sse'], pingMs: number | undefined]>([
  [undefined, undefined],
  [{ ping: { enabled: false, intervalMs: 5 } }, undefined],
  [{ ping: { enabled: true } }, 1000],
  [{ ping: { enabled: true, intervalMs: 5 } }, 5],
  [{ ping: { enabled: true, intervalMs: 0 } }, undefined],
  [{ ping: { enabled: true, intervalMs: Infinity } }, undefined],
])('streams of a router with sse: %o have pings every %s ms', (sse, pingMs) => {
  expect(eventTimes({ sse } as TrpcSettings['config']).pingMs).toBe(pingMs);
});
