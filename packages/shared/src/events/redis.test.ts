import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  hasRedis,
  type RedisProcess,
  startFaultProxy,
  startRedis,
  startRedisCluster,
} from '@petstore/testing/redis';
import { createClient, createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { beginning, channelMemoryMs, type EventLog } from './eventLog.ts';
import { redisEventLog } from './redis.ts';
import { describeEventLog, keepAll, numbers, TestReader } from './testing/eventLogContract.ts';
import { openRedisLog } from './testing/openRedisLog.ts';

describe.skipIf(!hasRedis)('Redis', () => {
  let shared: RedisProcess;
  beforeAll(async () => {
    shared = await startRedis();
  });
  afterAll(() => shared.remove());

  const openAt = (url: string, prefix?: string) => openRedisLog(() => createClient({ url }), prefix);

  async function newServer(options?: readonly string[]): Promise<RedisProcess> {
    const server = await startRedis(options);
    onTestFinished(() => server.remove());
    return server;
  }

  describeEventLog('in Redis', async () => {
    const prefix = randomUUID();
    const reopen = async () => openAt(shared.url, prefix);
    return { log: await reopen(), reopen };
  });

  it.each([
    ['FLUSHALL', [], flush],
    ['the eviction of its keys', [], evict],
    ['a crash', [], restart],
    ['a restart without its files', ['--appendonly', 'no'], restart],
  ] as const)('readers get one resync after %s', async (_what, options, lose) => {
    const server = await newServer(options);
    const log = openAt(server.url);
    const joined = await joinEmpty(log, 'a');
    const first = await log.append('a', '1', keepAll);
    const live = new TestReader(log, 'a', beginning);
    expect(await live.texts(1)).toEqual(['1']);
    const next = live.texts(2);
    await lose(server);
    await vi.waitFor(() => log.append('a', '2', keepAll));
    expect(await next).toEqual(['(resync)', '2']);
    for (const after of [first, joined])
      expect(await new TestReader(log, 'a', after).texts(2)).toEqual(['(resync)', '2']);
  });

  async function flush(server: RedisProcess): Promise<void> {
    await server.command('FLUSHALL');
  }

  async function restart(server: RedisProcess): Promise<void> {
    await server.kill();
    await server.start();
  }

  /** Removes all keys that expire, as Redis does when it needs their memory. */
  async function evict(server: RedisProcess): Promise<void> {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
    await server.command('CONFIG', 'SET', 'maxmemory', '1');
    await vi.waitFor(async () => expect(await server.command('DBSIZE')).toBe(':2'), 5000);
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
  }

  /** Joins a channel without events. Returns the id of the reader. */
  async function joinEmpty(log: EventLog, channel: string): Promise<string> {
    const { id, type } = await new TestReader(log, channel).item();
    expect(type).toBe('joined');
    return id;
  }

  it('a command that a client sends again, at once or after the next one, appends one event', async () => {
    const log = openRedisLog(() => {
      const client = createClient({ url: shared.url });
      const once = client.eval.bind(client);
      let previous: Parameters<typeof once> | undefined;
      return Object.assign(client, {
        async eval(...args: Parameters<typeof once>) {
          await once(...args);
          if (previous) await once(...previous);
          previous = args;
          return once(...args);
        },
      });
    });
    const ids = [await log.append('a', '1', keepAll), await log.append('a', '2', keepAll)];
    expect(ids.map((id) => id.split('-')[1])).toEqual(['1', '2']);
    expect(await new TestReader(log, 'a', beginning).texts(2)).toEqual(['1', '2']);
  });

  it('readers of channels without events leave nothing in Redis', async () => {
    const server = await newServer();
    const log = openAt(server.url);
    await Promise.all(numbers(1, 100).map((channel) => joinEmpty(log, channel)));
    // The key of the log.
    expect(await server.command('DBSIZE')).toBe(':1');
  });

  it('a reader that left a channel without events gets a resync if it returns after the channel may have been forgotten', async () => {
    const log = openAt(shared.url);
    const [epoch, joinedAt] = (await joinEmpty(log, 'a')).split('-');
    await log.append('a', '1', keepAll);
    const textsAfter = (ms: number, count: number) =>
      new TestReader(log, 'a', `${epoch}-${Number(joinedAt) - channelMemoryMs + ms}`).texts(count);
    expect(await textsAfter(-1000, 2)).toEqual(['(resync)', '1']);
    expect(await textsAfter(60_000, 1)).toEqual(['1']);
  });

  it('a process that is more changes behind than Redis keeps wakes all its readers', async () => {
    const { promise: isBehind, resolve: read } = Promise.withResolvers<void>();
    const log = openRedisLog(() => {
      const client = createClient({ url: shared.url });
      const xRead = client.xRead.bind(client);
      return Object.assign(client, {
        async xRead(...args: Parameters<typeof xRead>) {
          await isBehind;
          return xRead(...args);
        },
      });
    });
    const reader = new TestReader(log, 'a');
    expect(await reader.texts(1)).toEqual(['(joined)']);
    const next = reader.texts(1);
    // Until the reader has found no event, and waits.
    await log.append('b', '0', keepAll);
    await log.append('a', '1', keepAll);
    await Promise.all(numbers(1, 1200).map((event) => log.append('b', event, keepAll)));
    read();
    expect(await next).toEqual(['1']);
  });

  it('readers that begin while Redis cannot be reached wait for it, then get every event', async () => {
    const prefix = randomUUID();
    const proxy = await startFaultProxy(shared.url);
    onTestFinished(() => proxy.close());
    const writer = openAt(shared.url, prefix);
    const first = await writer.append('a', 'first', keepAll);
    proxy.set({ kind: 'freeze' });
    const log = openAt(proxy.uri, prefix);
    const [resumed, joined] = [new TestReader(log, 'a', first).texts(2), new TestReader(log, 'a')];
    const joining = joined.texts(1);
    // Longer than the deadline of a command.
    await sleep(6000);
    await writer.append('a', 'during', keepAll);
    proxy.set({ kind: 'none' });
    expect(await joining).toEqual(['(joined)']);
    await writer.append('a', 'after', keepAll);
    expect(await resumed).toEqual(['during', 'after']);
    expect(await joined.texts(1)).toEqual(['after']);
  });

  it('a reader whose user has no right to read rejects with the reply of Redis', async () => {
    await shared.command('ACL', 'SETUSER', 'reader', 'on', 'nopass', '~*', '+@all', '-eval');
    const log = openAt(shared.url.replace('//', '//reader:any@'));
    const iterator = log.read('a', undefined, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toThrow('NOPERM');
  });

  it('close ends within 1 s while a reader waits, and while Redis is suspended within 3 s', async () => {
    const server = await newServer();
    for (const isSuspended of [false, true]) {
      const log = redisEventLog({ connect: () => createClient({ url: server.url }) });
      const reader = new TestReader(log, 'a');
      await reader.item();
      const pending = reader.next();
      if (isSuspended) server.freeze();
      const startedAt = performance.now();
      await log.close();
      expect(await pending).toMatchObject({ done: true });
      expect(performance.now() - startedAt).toBeLessThan(isSuspended ? 3000 : 1000);
    }
  });

  it('logs in a cluster share channels', async () => {
    const { remove, servers } = await startRedisCluster();
    onTestFinished(remove);
    const rootNodes = servers.map(({ url }) => ({ url }));
    // With keys on each of the servers.
    for (const prefix of ['a', 'b']) {
      const [writer, reader] = [
        openRedisLog(() => createCluster({ rootNodes }), prefix),
        openRedisLog(() => createCluster({ rootNodes }), prefix),
      ];
      const readers = ['x', 'y'].map((channel) => new TestReader(reader, channel));
      for (const each of readers) expect(await each.texts(1)).toEqual(['(joined)']);
      const received = readers.map((each) => each.texts(20));
      for (const event of numbers(1, 20))
        await Promise.all(['x', 'y'].map((channel) => writer.append(channel, event, keepAll)));
      for (const texts of await Promise.all(received)) expect(texts).toEqual(numbers(1, 20));
    }
  });

  it('200 readers of a channel cost the server as much as one, and idle readers one command in 2 s', async () => {
    const server = await newServer();
    const log = openAt(server.url);
    const readers = Array.from({ length: 200 }, () => new TestReader(log, 'a'));
    await Promise.all(readers.map((reader) => reader.item()));
    const received = readers.map((reader) => reader.texts(100));
    const client = await createClient({ url: server.url }).connect();
    onTestFinished(() => client.close());
    const before = await commandsOf(client);
    for (let at = 1; at <= 100; at += 1) await log.append('a', String(at), keepAll);
    for (const texts of await Promise.all(received)) expect(texts).toEqual(numbers(1, 100));
    for (const reader of readers) void reader.next();
    const after = await commandsOf(client);
    // An append and a page for each event.
    expect(after.eval - before.eval).toBeLessThanOrEqual(202);
    expect(after.xread - before.xread).toBeLessThanOrEqual(102);
    // The first read that ends may bring the last event, which was read before: each reader looks once more. The next has nothing.
    await expect.poll(async () => (await commandsOf(client)).xread).toBeGreaterThan(after.xread + 1);
    const quiet = await commandsOf(client);
    const idleSince = performance.now();
    await sleep(4000);
    const idle = await commandsOf(client);
    expect(idle.eval - quiet.eval).toBe(0);
    const seconds = (performance.now() - idleSince) / 1000;
    expect(idle.xread - quiet.xread).toBeLessThanOrEqual(1 + Math.ceil(seconds / 2));
  });
});

/** How often the server has run some commands. */
async function commandsOf(client: { info(section: string): Promise<string> }) {
  const info = await client.info('commandstats');
  const callsOf = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
  return { eval: callsOf('eval'), xread: callsOf('xread') };
}
