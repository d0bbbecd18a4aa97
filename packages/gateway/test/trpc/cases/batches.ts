import { httpBatchStreamLink } from '@trpc/client';
import { expect, it } from 'vitest';
import { callLinks, clientOf } from '../clients.ts';
import type { Start } from '../start.ts';

/** Batches over each batching link, and JSON lines as they arrive. */
export function batches(start: Start): void {
  it.each(['httpBatchLink', 'httpBatchStreamLink', 'wsLink'] as const)(
    '1,000 queries and 1,000 mutations of one tick are answered over %s',
    async (link) => {
      const { endpoints } = await start();
      const trpc = clientOf(callLinks[link](endpoints));
      const each = Array.from({ length: 1000 }, (_, index) => `${index}`);
      expect(await Promise.all(each.map(() => trpc.hello.query()))).toEqual(each.map(() => 'Hello, world!'));
      const things = await Promise.all(each.map((name) => trpc.write.mutate({ name })));
      expect(things.map(({ name }) => name)).toEqual(each);
      const waited = await Promise.all(each.map(() => trpc.slowWrite.mutate({ ms: 1 })));
      expect(waited).toEqual(each.map(() => 'written'));
    },
  );

  it('httpBatchStreamLink resolves each call as soon as it completes', async () => {
    const { endpoints, contexts } = await start();
    const trpc = clientOf(httpBatchStreamLink(endpoints.http));
    const order: string[] = [];
    await Promise.all([
      trpc.slow.query({ ms: 150 }).then(() => order.push('slow')),
      trpc.slow.query({ ms: 50 }).then(() => order.push('less slow')),
      trpc.hello.query().then(() => order.push('quick')),
      trpc.throwError.query('CONFLICT').catch(() => order.push('failed')),
    ]);
    expect(order).toHaveLength(4);
    expect(order.slice(-2)).toEqual(['less slow', 'slow']);
    expect(contexts).toHaveLength(1);
    expect(contexts[0]).toMatchObject({ accept: 'application/jsonl', batch: true });
  });

  it('jsonl.pingMs keeps an idle response alive with white space', async () => {
    const { endpoints } = await start({ streams: { jsonl: { pingMs: 20 } } });
    const response = await endpoints.http.fetch(
      `${endpoints.http.url}/slow?batch=1&input=${encodeURIComponent(JSON.stringify({ 0: { ms: 400 } }))}`,
      { headers: { 'trpc-accept': 'application/jsonl' } },
    );
    const text = await response.text();
    expect(text.split('\n').filter((line) => line.trim() !== '').length).toBeGreaterThan(1);
    expect(text.match(/^ +/gm)?.join('').length).toBeGreaterThanOrEqual(3);
    expect(text.includes('"done"')).toBe(true);
  });
}
