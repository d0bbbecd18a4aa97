import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type FaultProxy,
  hasRedis,
  type RedisProcess,
  startFaultProxy,
  startRedis,
} from '@petstore/testing/redis';
import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import type { EventLog, LogItem } from './eventLog.ts';
import { keepAll, openRedisLog } from './testing/collect.ts';
import { Journey } from './testing/journey.ts';

const channels = ['a', 'b'] as const;

/** How long faults are injected, in milliseconds. */
const faultsMs = process.env['PETSTORE_TESTS'] === 'long' ? 600_000 : 8000;

/** A reader that disconnects at random, and continues at another log, until it has read `end`. */
async function travel(
  logs: readonly EventLog[],
  channel: string,
  named: Map<string, string>,
): Promise<Journey> {
  const journey = new Journey();
  const read: { hasEnded: boolean; violation?: unknown } = { hasEnded: false };
  const check = (item: LogItem): void => {
    try {
      journey.add(item);
      if (item.type !== 'event') return;
      expect(named.get(item.id) ?? item.event).toBe(item.event);
      named.set(item.id, item.event);
      read.hasEnded = item.event === 'end';
    } catch (error) {
      read.violation ??= error;
    }
  };
  while (!read.hasEnded) {
    const controller = new AbortController();
    let left = randomInt(1, 2000);
    try {
      const log = logs[randomInt(logs.length)];
      // oxlint-disable-next-line no-await-in-loop -- one connection after the other
      for await (const item of log?.read(channel, journey.id, controller.signal) ?? []) {
        check(item);
        left -= 1;
        if (left === 0 || read.hasEnded) controller.abort();
      }
    } catch {
      // A reader cannot begin while Redis cannot be reached.
    }
    // oxlint-disable-next-line no-await-in-loop -- between two connections
    await sleep(randomInt(20));
  }
  expect(read.violation).toBeUndefined();
  return journey;
}

/** Injects faults, one after the other. @returns how many of them may have lost events */
async function injectFaults(server: RedisProcess, proxies: readonly FaultProxy[]): Promise<number> {
  const cut = (kind: 'freeze' | 'reject') => async () => {
    const proxy = proxies[randomInt(proxies.length)];
    proxy?.set({ kind });
    await sleep(randomInt(10) === 0 ? 6000 : randomInt(1000));
    proxy?.set({ kind: 'none' });
    return 0;
  };
  const faults = [
    cut('freeze'),
    cut('freeze'),
    cut('reject'),
    cut('reject'),
    async () => {
      server.freeze();
      await sleep(randomInt(1000));
      server.resume();
      return 0;
    },
    async () => {
      await server.kill();
      await sleep(randomInt(500));
      await server.start();
      return 1;
    },
    async () => {
      await server.command('FLUSHALL');
      return 1;
    },
  ];
  let losses = 0;
  const until = Date.now() + faultsMs;
  while (Date.now() < until) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    losses += (await faults[randomInt(faults.length)]?.()) ?? 0;
    // oxlint-disable-next-line no-await-in-loop
    await sleep(randomInt(1000));
  }
  return losses;
}

it.skipIf(!hasRedis)(
  'readers that disconnect at random get every event once and in order, or one resync, while connections are cut and Redis is suspended, killed and emptied at random',
  async () => {
    const server = await startRedis();
    onTestFinished(() => server.remove());
    const proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy(server.url)));
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))));
    const prefix = randomUUID();
    const logs = proxies.map(({ uri }) => openRedisLog(() => createClient({ url: uri }), prefix));
    const named = channels.map(() => new Map<string, string>());
    const journeys = Array.from({ length: 12 }, (_, at) =>
      travel(logs, channels[at % 2] ?? '', named[at % 2] ?? new Map()),
    );
    const acknowledged = channels.map(() => new Set<string>());
    const writing = new AbortController();
    let stored = 0;
    const write = async (log: EventLog, writer: number): Promise<void> => {
      for (let at = 0; !writing.signal.aborted; at += 1) {
        // oxlint-disable-next-line no-await-in-loop -- at most four at once
        const written = await Promise.allSettled(
          channels.flatMap((channel) =>
            [1, 2].map((part) => log.append(channel, `${writer}:${at}:${part}`, keepAll)),
          ),
        );
        for (const [part, result] of written.entries()) {
          if (result.status === 'rejected') continue;
          stored += 1;
          acknowledged[Math.floor(part / 2)]?.add(result.value);
        }
        // oxlint-disable-next-line no-await-in-loop
        await sleep(randomInt(5));
      }
    };
    const writers = logs.map(write);
    const losses = await injectFaults(server, proxies);
    writing.abort();
    await Promise.all(writers);
    const end = async (channel: string): Promise<void> => {
      await logs[0]?.append(channel, 'end', keepAll).catch(() => end(channel));
    };
    await Promise.all(channels.map(end));
    expect(stored).toBeGreaterThan(1000);
    for (const [at, journey] of (await Promise.all(journeys)).entries()) {
      journey.verify(new Set([...(acknowledged[at % 2] ?? []), ...(named[at % 2]?.keys() ?? [])]));
      expect(journey.eventCount).toBeGreaterThan(1000);
      expect(journey.resyncCount).toBeLessThanOrEqual(losses);
    }
  },
  faultsMs + 120_000,
);
