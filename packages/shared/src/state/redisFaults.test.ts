import { randomUUID } from 'node:crypto';
import {
  hasRedis,
  type RedisProcess,
  startFaultProxy,
  startRedis,
  startRedisGroup,
} from '@petstore/testing/redis';
import { createClient, createSentinel } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RedisClient } from '../redis/redisConnection.ts';
import { redisState } from './redis.ts';
import { acceptedBy } from './testing/acceptedBy.ts';
import { describeUnreachableState } from './testing/unreachableState.ts';

describe.skipIf(!hasRedis)('a state in a Redis that fails', () => {
  let shared: RedisProcess;
  beforeAll(async () => {
    shared = await startRedis();
  });
  afterAll(() => shared.remove());

  async function open(connect: () => RedisClient, prefix: string = randomUUID()) {
    const state = await redisState({ connect, prefix });
    onTestFinished(() => state.close());
    return state;
  }

  async function newServer(): Promise<RedisProcess> {
    const server = await startRedis();
    onTestFinished(() => server.remove());
    return server;
  }

  it('while Redis is suspended, a command rejects after 5 s, and a later one finds it again', async () => {
    const server = await newServer();
    const state = await open(() => createClient({ url: server.url }));
    await state.add('a', 'first', 60_000);
    server.freeze();
    const startedAt = performance.now();
    await expect(state.add('b', 'value', 60_000)).rejects.toThrow('Redis has not responded for 5 s.');
    expect(performance.now() - startedAt).toBeLessThan(6000);
    server.resume();
    expect(await state.add('a', 'second', 60_000)).toBe('first');
  });

  describeUnreachableState('in Redis', async () => {
    const proxy = await startFaultProxy(shared.url);
    onTestFinished(() => proxy.close());
    let clients = 0;
    const state = await open(() => {
      clients += 1;
      return createClient({ url: proxy.uri });
    });
    return { state, proxy, clients: () => clients };
  });

  it('redisState rejects within 6 s if no server listens', async () => {
    const proxy = await startFaultProxy(shared.url);
    onTestFinished(() => proxy.close());
    proxy.set({ kind: 'reject' });
    await expect(redisState({ connect: () => createClient({ url: proxy.uri }) })).rejects.toMatchObject({
      message: 'Redis has not responded for 5 s.',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('close resolves within 3 s while Redis is suspended, and later calls reject', async () => {
    const server = await newServer();
    const state = await redisState({ connect: () => createClient({ url: server.url }) });
    server.freeze();
    const pending = Promise.allSettled([state.add('a', 'value', 60_000)]);
    const startedAt = performance.now();
    await state.close();
    expect(performance.now() - startedAt).toBeLessThan(3000);
    expect(await pending).toMatchObject([{ status: 'rejected' }]);
    await expect(state.add('a', 'value', 60_000)).rejects.toThrow('closed');
  });

  it.each([
    ['killed', async (server: RedisProcess) => server.kill()],
    ['suspended', async (server: RedisProcess) => server.freeze()],
  ])(
    'a state on Sentinel keeps its keys and limits when the server is %s and replaced',
    async (_what, end) => {
      const { remove, sentinel, server } = await startRedisGroup();
      onTestFinished(remove);
      const connect = () =>
        createSentinel({ name: 'tests', sentinelRootNodes: [{ host: '127.0.0.1', port: sentinel.port }] });
      const prefix = randomUUID();
      const states = [await open(connect, prefix), await open(connect, prefix)] as const;
      await states[0].add('key', 'first', 60_000);
      const before = await acceptedBy(states, 600, 1000);
      await end(server);
      for (const state of states)
        await vi.waitFor(async () => expect(await state.add('key', 'second', 60_000)).toBe('first'), {
          timeout: 40_000,
          interval: 200,
        });
      const after = await acceptedBy(states, 600, 1000);
      expect(before + after).toBeGreaterThanOrEqual(990);
      expect(before + after).toBeLessThanOrEqual(1010);
    },
  );
});
