import { httpBatchLink, httpBatchStreamLink, httpLink, splitLink, wsLink } from '@trpc/client';
import { describe, expect, it } from 'vitest';
import { clientOf, wsClient } from '../clients.ts';
import type { Start } from '../start.ts';

/** Batches over each batching link, JSON lines and splitLink. */
export function batches(start: Start): void {
  describe('batches', () => {
    it('httpBatchLink sends concurrent calls as one request', async () => {
      const { endpoints, contexts } = await start();
      const trpc = clientOf(httpBatchLink(endpoints.http));
      await Promise.all([trpc.hello.query(), trpc.nothing.query(), trpc.add.query({ a: 1, b: 2 })]);
      expect(contexts).toHaveLength(1);
      expect(contexts[0]).toMatchObject({
        batch: true,
        calls: ['hello', 'nothing', 'add'],
        accept: null,
        type: 'query',
        path: '/trpc/hello,nothing,add',
      });
    });

    it('httpBatchLink sends mutations as one POST', async () => {
      const { endpoints, contexts } = await start();
      const trpc = clientOf(httpBatchLink(endpoints.http));
      const things = await Promise.all([trpc.write.mutate({ name: 'a' }), trpc.write.mutate({ name: 'b' })]);
      expect(things.map(({ name }) => name)).toEqual(['a', 'b']);
      expect(contexts).toHaveLength(1);
      expect(contexts[0]).toMatchObject({ batch: true, type: 'mutation' });
    });

    it('httpBatchLink sends a single call as a batch', async () => {
      const { endpoints, contexts } = await start();
      await clientOf(httpBatchLink(endpoints.http)).hello.query();
      expect(contexts[0]).toMatchObject({ batch: true, calls: ['hello'] });
    });

    it('a GET batch of 40 calls with a URL of several kilobytes is answered', async () => {
      const { endpoints } = await start();
      const trpc = clientOf(httpBatchLink(endpoints.http));
      const names = Array.from({ length: 40 }, (_, n) => `name ${n} ${'x'.repeat(20)}`);
      const responses = await Promise.all(names.map((name) => trpc.hello.query({ name })));
      expect(responses).toEqual(names.map((name) => `Hello, ${name}!`));
    });

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

    it('wsLink sends concurrent calls as one message', async () => {
      const { endpoints } = await start();
      const trpc = clientOf(wsLink({ client: wsClient(endpoints) }));
      expect(await Promise.all([trpc.hello.query(), trpc.nothing.query(), trpc.hello.query()])).toHaveLength(
        3,
      );
    });
  });

  describe('JSON lines', () => {
    it('promises in an output settle one by one, each with its own value or error', async () => {
      const { endpoints } = await start();
      const output = await clientOf(httpBatchStreamLink(endpoints.http)).promises.query();
      expect(output.now).toBe('now');
      expect(await output.later).toBe('later');
      await expect(output.broken).rejects.toMatchObject({
        message: 'It broke on the way',
        data: { code: 'CONFLICT', path: 'promises' },
      });
    });

    it('an async iterable output yields its values and its return value', async () => {
      const { endpoints } = await start();
      const output = await clientOf(httpBatchStreamLink(endpoints.http)).iterable.query(3);
      const iterator = output[Symbol.asyncIterator]();
      const steps = [];
      for (let step = await iterator.next(); ; step = await iterator.next()) {
        steps.push(step);
        if (step.done) break;
      }
      expect(steps.map(({ value }) => value as unknown)).toEqual([1, 2, 3, 'the end']);
    });

    it('an async iterable that throws yields the values before the error, then the error', async () => {
      const { endpoints, errors } = await start();
      const received: number[] = [];
      const output = await clientOf(httpBatchStreamLink(endpoints.http)).iterableFails.query();
      await expect(
        (async () => {
          for await (const value of output) received.push(value);
        })(),
      ).rejects.toMatchObject({ message: 'It failed in the middle', data: { code: 'CONFLICT' } });
      expect(received).toEqual([1]);
      expect(errors).toContain('- CONFLICT');
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
  });

  describe('splitLink', () => {
    it('splitLink sends mutations over HTTP and queries over WebSocket', async () => {
      const { endpoints, contexts } = await start();
      const trpc = clientOf(
        splitLink({
          condition: ({ type }) => type === 'mutation',
          true: httpLink(endpoints.http),
          false: wsLink({ client: wsClient(endpoints) }),
        }),
      );
      expect(await trpc.write.mutate({ name: 'over HTTP' })).toMatchObject({ name: 'over HTTP' });
      expect(await trpc.seen.query()).toMatchObject({ path: null });
      expect(contexts.map(({ path }) => path)).toContain('/trpc/write');
    });
  });
}
