import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  hasRedis,
  type RedisProcess,
  startFaultProxy,
  startRedis,
  startRedisGroup,
} from '@petstore/testing/redis';
import { createClient, createSentinel } from 'redis';
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

  it.each([
    { kind: 'freeze' as const, seconds: 1 },
    { kind: 'freeze' as const, seconds: 10 },
    { kind: 'reject' as const, seconds: 1 },
    { kind: 'reject' as const, seconds: 10 },
  ])(
    'readers get every event once and in order after a cut of $seconds s ($kind)',
    async ({ kind, seconds }) => {
      const prefix = randomUUID();
      const proxy = await startFaultProxy(shared.url);
      onTestFinished(() => proxy.close());
      const writer = openAt(shared.url, prefix);
      const reader = openAt(proxy.uri, prefix);
      const readers = [collect(reader, 'a'), collect(reader, 'a'), collect(reader, 'b')];
      await vi.waitFor(() => expect(readers.every(({ length }) => length === 1)).toBe(true), 5000);
      let sent = 0;
      const send = async () => {
        sent += 1;
        await Promise.all(['a', 'b'].map((channel) => writer.append(channel, String(sent), keepAll)));
      };
      for (let at = 0; at < 50; at += 1) await send();
      for (const items of readers) await received(items, '50');
      proxy.set({ kind });
      const until = Date.now() + seconds * 1000;
      while (Date.now() < until) {
        await send();
        await sleep(5);
      }
      proxy.set({ kind: 'none' });
      for (let at = 0; at < 50; at += 1) await send();
      for (const items of readers) {
        await received(items, String(sent));
        expect(textsOf(items)).toEqual(['(joined)', ...numbers(1, sent)]);
      }
    },
  );

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

  it('appends reject after 5 s while Redis is suspended, and readers go on when it resumes', async () => {
    const server = await newServer();
    const log = openAt(server.url);
    const items = collect(log, 'a');
    await vi.waitFor(() => expect(items).toHaveLength(1), 5000);
    await log.append('a', 'before', keepAll);
    await received(items, 'before');
    server.freeze();
    await expect(log.append('a', 'during', keepAll)).rejects.toThrow('Redis has not responded for 5 s.');
    server.resume();
    await log.append('a', 'after', keepAll);
    await received(items, 'after');
    // Redis may have received it before it was suspended.
    expect(textsOf(items).filter((text) => text !== 'during')).toEqual(['(joined)', 'before', 'after']);
  });

  it.each([
    ['killed', async (server: RedisProcess) => server.kill()],
    ['suspended', async (server: RedisProcess) => server.freeze()],
  ])(
    'on Sentinel, readers get one resync when the server is %s and replaced, and no event twice',
    async (_what, end) => {
      const { remove, sentinel, server } = await startRedisGroup();
      onTestFinished(remove);
      const prefix = randomUUID();
      const connect = () =>
        createSentinel({ name: 'tests', sentinelRootNodes: [{ host: '127.0.0.1', port: sentinel.port }] });
      const [writer, reader] = [openRedisLog(connect, prefix), openRedisLog(connect, prefix)];
      const items = collect(reader, 'a');
      await vi.waitFor(() => expect(items).toHaveLength(1), 10_000);
      let sent = 0;
      const outcomes = new Map<string, boolean>();
      const append = async (): Promise<void> => {
        sent += 1;
        const event = String(sent);
        outcomes.set(
          event,
          await writer.append('a', event, keepAll).then(
            () => true,
            () => false,
          ),
        );
      };
      for (let at = 0; at < 100; at += 1) await append();
      await received(items, '100');
      const ended = end(server);
      const pending = Array.from({ length: 20 }, append);
      await ended;
      await Promise.all(pending);
      await vi.waitFor(
        async () => {
          await append();
          expect(outcomes.get(String(sent))).toBe(true);
        },
        { timeout: 40_000, interval: 200 },
      );
      await received(items, String(sent));
      const texts = textsOf(items).filter((text) => text !== '(joined)' && text !== '(resync)');
      expect(new Set(texts).size).toBe(texts.length);
      expect(textsOf(items).filter((text) => text === '(resync)')).toHaveLength(1);
      // Those that were acknowledged after the resync are there.
      const later = new Set(textsOf(items).slice(textsOf(items).indexOf('(resync)')));
      expect(later.has(String(sent))).toBe(true);
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
