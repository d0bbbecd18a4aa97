import { type State, takeTokens } from 'trpc-gateway';
import { hasRedis, type RedisProcess, startRedis, startRedisCluster } from '@petstore/testing/redis';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { freePort } from '@petstore/testing/freePort';
import { createClient, createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { redisState } from './redis.ts';
import { describeState } from './testing/stateContract.ts';

/** Calls each of the states, some calls of each at once. @returns how many of the calls were accepted */
async function acceptedBy(states: readonly State[], calls: number, limit: number): Promise<number> {
  const bucket = { size: limit, windowMs: 3_600_000 };
  let left = calls;
  let taken = 0;
  const callers = [...states, ...states].map(async (state) => {
    while (left > 0) {
      left -= 1;
      if ((await state.take('a', 1, bucket)).isTaken) taken += 1;
    }
  });
  await Promise.all(callers);
  return taken;
}

it('redisState rejects a client of redis 4, with the version that it needs', async () => {
  const client = createClient();
  Object.defineProperty(client, 'close', { value: undefined });
  await expect(redisState({ connect: () => client })).rejects.toThrow('Use `redis` 5 or newer');
});

describe.skipIf(!hasRedis)('Redis', () => {
  let shared: RedisProcess;
  beforeAll(async () => {
    shared = await startRedis();
  });
  afterAll(() => shared.remove());

  async function openAt(url: string, prefix?: string) {
    const connect = () => createClient({ url });
    const state = await redisState({ connect, ...(prefix !== undefined && { prefix }) });
    onTestFinished(() => state.close());
    return state;
  }

  /** A server that a test may kill. */
  async function newServer(options?: readonly string[]): Promise<RedisProcess> {
    const server = await startRedis(options);
    onTestFinished(() => server.remove());
    return server;
  }

  describeState('in Redis', async () => {
    const prefix = randomUUID();
    const reopen = () => openAt(shared.url, prefix);
    return { state: await reopen(), reopen };
  });

  it('redisState stores hashes of keys only, and each key but one expires', async () => {
    const server = await newServer();
    const state = await openAt(server.url);
    await state.add('credential secret', 'value', 60_000);
    await state.take('credential secret', 1, { size: 10, windowMs: 60_000 });
    const client = await createClient({ url: server.url }).connect();
    onTestFinished(() => client.close());
    const keys = await client.keys('*');
    expect(keys).toHaveLength(3);
    expect(keys.join()).not.toContain('secret');
    const lasting = await Promise.all(keys.map(async (key) => (await client.pTTL(key)) === -1));
    expect(keys.filter((_key, at) => lasting[at])).toEqual(['{gatewayState}:opened']);
  });

  it('take computes as takeTokens does', async () => {
    const state = await openAt(shared.url, randomUUID());
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1000 }),
        // Too long for a token to be refilled during the test.
        fc.integer({ min: 1_000_000_000, max: 100_000_000_000 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 8 }),
        async (size, windowMs, counts) => {
          const key = randomUUID();
          const bucket = { size, windowMs };
          let fullAt: number | undefined;
          for (const count of counts) {
            const expected = takeTokens(fullAt, count, bucket, 0);
            fullAt = expected.fullAt;
            const { isTaken, left } = expected.taken;
            expect(await state.take(key, count, bucket)).toMatchObject({ isTaken, left });
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('after FLUSHALL, a limit goes on for the 10,000 buckets that a process has used last', async () => {
    const server = await newServer();
    const state = await openAt(server.url);
    const isTaken = async (key: string) =>
      (await state.take(key, 1, { size: 2, windowMs: 3_600_000 })).isTaken;
    await isTaken('busy');
    for (let at = 0; at < 9999; at += 99) {
      // Not all at once: a busy machine would not answer the last within the deadline of a command.
      await Promise.all(Array.from({ length: 99 }, (_, more) => isTaken(`other ${at + more}`)));
    }
    expect(await isTaken('busy')).toBe(true);
    await isTaken('one more');
    await server.command('FLUSHALL');
    expect(await isTaken('busy')).toBe(false);
  });

  it.each([
    ['FLUSHALL', [], async (server: RedisProcess) => void (await server.command('FLUSHALL'))],
    [
      'a restart without its files',
      ['--appendonly', 'no'],
      async (server: RedisProcess) => {
        await server.kill();
        await server.start();
      },
    ],
  ])(
    'after %s limits go on within 1%%, and add rejects until the state is opened again',
    async (_what, options, lose) => {
      const server = await newServer(options);
      const states = [await openAt(server.url), await openAt(server.url)] as const;
      await states[0].add('key', 'first', 60_000);
      const before = await acceptedBy(states, 600, 1000);
      await lose(server);
      // The first call of each may find its connection lost.
      for (const state of states)
        await vi.waitFor(() => state.take('other', 0, { size: 1, windowMs: 1 }), 5000);
      const after = await acceptedBy(states, 600, 1000);
      expect(before + after).toBeGreaterThanOrEqual(990);
      expect(before + after).toBeLessThanOrEqual(1010);
      for (const state of states)
        await expect(state.add('key', 'second', 60_000)).rejects.toThrow(
          'The keys of the state in Redis were removed: calls with an idempotency key could run twice. Restart all processes of the service.',
        );
      expect(await (await openAt(server.url)).add('key', 'third', 60_000)).toBeUndefined();
    },
  );

  it('redisState rejects within 6 s if no server listens, with the reason', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    await expect(redisState({ connect: () => createClient({ url }) })).rejects.toMatchObject({
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

  it('states in a cluster share keys and limits', async () => {
    const { remove, servers } = await startRedisCluster();
    onTestFinished(remove);
    // With keys on each of the servers.
    for (const prefix of ['a', 'b']) {
      const open = async () => {
        const rootNodes = servers.map(({ url }) => ({ url }));
        const state = await redisState({ connect: () => createCluster({ rootNodes }), prefix });
        onTestFinished(() => state.close());
        return state;
      };
      const states = [await open(), await open()] as const;
      expect(await states[0].add('key', 'first', 60_000)).toBeUndefined();
      expect(await states[1].add('key', 'second', 60_000)).toBe('first');
      expect(await acceptedBy(states, 120, 100)).toBe(100);
    }
  });
});
