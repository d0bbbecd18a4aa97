import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasRedis, type RedisProcess, startFaultProxy, startRedis } from '@petstore/testing/redis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { redisEventLog } from './redis.ts';
import { collect, keepAll, numbers, openRedisLog, received, textsOf } from './testing/collect.ts';

describe.skipIf(!hasRedis)('an event log in a Redis that fails', () => {
  let shared: RedisProcess;
  beforeAll(async () => {
    shared = await startRedis();
  });
  afterAll(() => shared.remove());

  const openAt = (url: string, prefix?: string) => openRedisLog(() => createClient({ url }), prefix);

  async function newServer(): Promise<RedisProcess> {
    const server = await startRedis();
    onTestFinished(() => server.remove());
    return server;
  }

  it.each(['freeze', 'reject'] as const)(
    'readers get one resync after a cut (%s) in which more was appended than is kept, then what is kept',
    async (kind) => {
      const prefix = randomUUID();
      const keep = { events: 100, ms: 3_600_000 };
      const proxy = await startFaultProxy(shared.url);
      onTestFinished(() => proxy.close());
      const writer = openAt(shared.url, prefix);
      const items = collect(openAt(proxy.uri, prefix), 'a');
      await vi.waitFor(() => expect(items).toHaveLength(1), 5000);
      await writer.append('a', '1', keep);
      await received(items, '1');
      proxy.set({ kind });
      await Promise.all(numbers(2, 1000).map((event) => writer.append('a', event, keep)));
      proxy.set({ kind: 'none' });
      await received(items, '1000');
      const texts = textsOf(items);
      const gap = texts.indexOf('(resync)');
      // The reply to the XREAD of before may arrive with the first events.
      expect(texts.slice(0, gap)).toEqual(['(joined)', ...numbers(1, gap - 1)]);
      expect(texts.slice(gap + 1)).toEqual(numbers(901, 1000));
    },
  );

  it('close ends within 1 s while a reader waits, and while Redis is suspended within 3 s', async () => {
    const server = await newServer();
    for (const isSuspended of [false, true]) {
      const log = redisEventLog({ connect: () => createClient({ url: server.url }) });
      const items = collect(log, 'a');
      await vi.waitFor(() => expect(items).toHaveLength(1), 5000);
      if (isSuspended) server.freeze();
      const startedAt = performance.now();
      await log.close();
      expect(performance.now() - startedAt).toBeLessThan(isSuspended ? 3000 : 1000);
    }
  });

  it.each(['freeze', 'reject'] as const)(
    'readers that begin while Redis cannot be reached (%s) wait for it, then get every event',
    async (kind) => {
      const prefix = randomUUID();
      const proxy = await startFaultProxy(shared.url);
      onTestFinished(() => proxy.close());
      const writer = openAt(shared.url, prefix);
      const first = await writer.append('a', 'first', keepAll);
      proxy.set({ kind });
      const log = openAt(proxy.uri, prefix);
      const [resumed, joined] = [collect(log, 'a', first), collect(log, 'a')];
      // Longer than the deadline of a command.
      await sleep(6000);
      await writer.append('a', 'during', keepAll);
      proxy.set({ kind: 'none' });
      await vi.waitFor(() => expect(textsOf(joined)).toEqual(['(joined)']), 30_000);
      await writer.append('a', 'after', keepAll);
      await received(resumed, 'after');
      await received(joined, 'after');
      expect(textsOf(resumed)).toEqual(['during', 'after']);
    },
  );

  it('a reader whose user has no right to read rejects with the reply of Redis', async () => {
    await shared.command('ACL', 'SETUSER', 'reader', 'on', 'nopass', '~*', '+@all', '-eval');
    const log = openAt(shared.url.replace('//', '//reader:any@'));
    const iterator = log.read('a', undefined, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toThrow('NOPERM');
  });
});
