import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasRedis, type RedisProcess, startFaultProxy, startRedis } from '@petstore/testing/redis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { resumable } from '../index.ts';
import { openRedisLog } from '../events/testing/collect.ts';

describe.skipIf(!hasRedis)('resumable on a Redis that fails', () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.remove());

  /** Opens the runs of a process. */
  function openRuns(url: string, prefix: string) {
    const log = openRedisLog(() => createClient({ url }), prefix);
    const runs = resumable({ log, name: 'answers', event: z.int(), onError: () => {} });
    onTestFinished(() => runs.close());
    return runs;
  }

  /** Counts slowly, until it is stopped. */
  async function* count(signal: AbortSignal) {
    for (let at = 1; at <= 1000; at += 1) {
      yield at;
      await sleep(200, undefined, { signal });
    }
  }

  /** Reads a run into an array, until it ends. */
  async function read(runs: ReturnType<typeof openRuns>) {
    const received: number[] = [];
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    const events = await runs.join('a', { caller: 'ada', signal: controller.signal, produce: count });
    const ended = (async () => {
      for await (const [, event] of events) received.push(event);
    })().catch((error: unknown) => error);
    return { received, ended };
  }

  it.each([
    { who: 'the readers', kind: 'freeze' as const },
    { who: 'the readers', kind: 'reject' as const },
    { who: 'all processes', kind: 'freeze' as const },
    { who: 'all processes', kind: 'reject' as const },
  ])('a run goes on after $who could not reach Redis for a second ($kind)', async ({ kind, who }) => {
    const prefix = randomUUID();
    const proxy = await startFaultProxy(redis.url);
    onTestFinished(() => proxy.close());
    const starter = await read(openRuns(who === 'the readers' ? redis.url : proxy.uri, prefix));
    const others = openRuns(proxy.uri, prefix);
    const readers = [starter, await read(others), await read(others)];
    const areAllAt = (at: number) => () => readers.every(({ received }) => received.length >= at);
    await expect.poll(areAllAt(3), { timeout: 10_000 }).toBe(true);
    proxy.set({ kind });
    await sleep(1000);
    proxy.set({ kind: 'none' });
    await expect.poll(areAllAt(20), { timeout: 15_000 }).toBe(true);
    for (const { received } of readers)
      expect(received).toEqual(Array.from({ length: received.length }, (_, at) => at + 1));
  });

  it('join fails with 503 while Redis cannot be reached, and begins no run when it is back', async () => {
    const proxy = await startFaultProxy(redis.url);
    onTestFinished(() => proxy.close());
    proxy.set({ kind: 'reject' });
    const runs = openRuns(proxy.uri, randomUUID());
    const produce = vi.fn(count);
    const joining = runs.join('a', { caller: 'ada', signal: undefined, produce });
    await expect(joining).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    proxy.set({ kind: 'none' });
    await read(runs);
    expect(produce).not.toHaveBeenCalled();
  });

  it('when Redis is emptied, the run ends, and clients get RESYNC', async () => {
    const prefix = randomUUID();
    const readers = [await read(openRuns(redis.url, prefix)), await read(openRuns(redis.url, prefix))];
    await expect.poll(() => readers.every(({ received }) => received.length > 2)).toBe(true);
    await redis.command('FLUSHALL');
    for (const { ended } of readers) expect(await ended).toMatchObject({ declaredCode: 'RESYNC' });
  });
});
