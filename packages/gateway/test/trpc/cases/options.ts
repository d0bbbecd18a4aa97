import { httpLink, httpSubscriptionLink, wsLink } from '@trpc/client';
import { expect, it } from 'vitest';
import { clientOf, wsClient } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';

/** The adapters' options, and an input that is a stream. */
export function options(start: Start): void {
  it('basePath may have several segments for HTTP, SSE and WebSocket', async () => {
    const { endpoints, contexts } = await start({ basePath: '/api/v2/rpc' });
    expect(await clientOf(httpLink(endpoints.http)).hello.query()).toBe('Hello, world!');
    expect(await clientOf(wsLink({ client: wsClient(endpoints) })).hello.query()).toBe('Hello, world!');
    const trpc = clientOf(httpSubscriptionLink(endpoints.events));
    const seen = collect(trpc.count, { to: 2 });
    await seen.ended;
    expect(seen.data).toEqual([1, 2]);
    expect(contexts.map(({ path }) => path)).toEqual(['/api/v2/rpc/hello', null, '/api/v2/rpc/count']);
  });

  it('an application/octet-stream input may be sent in chunks without a Content-Length', async () => {
    const { endpoints } = await start();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let n = 0; n < 10; n += 1) controller.enqueue(new Uint8Array(10_000).fill(n));
        controller.close();
      },
    });
    const response = await endpoints.http.fetch(`${endpoints.http.url}/bytes`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body,
      duplex: 'half',
    });
    expect(await response.json()).toMatchObject({ result: { data: { length: 100_000 } } });
  });
}
