import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, vi } from 'vitest';
import type { EventLog, LogItem, Retention } from '../eventLog.ts';
import { redisEventLog, type RedisEventLogOptions } from '../redis.ts';

export const keepAll: Retention = { events: 100_000, ms: 3_600_000 };

/** Reads a channel into an array until the test ends. */
export function collect(log: EventLog, channel: string, after?: string): LogItem[] {
  const items: LogItem[] = [];
  const controller = new AbortController();
  const reading = (async () => {
    for await (const item of log.read(channel, after, controller.signal)) items.push(item);
  })();
  onTestFinished(async () => {
    controller.abort();
    await reading;
  });
  return items;
}

/** The events as their texts, and other items as their types in parentheses. */
export const textsOf = (items: readonly LogItem[]): string[] =>
  items.map((item) => (item.type === 'event' ? item.event : `(${item.type})`));

export const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

/** Waits until a reader has received an event. */
export const received = (items: readonly LogItem[], event: string) =>
  vi.waitFor(() => expect(textsOf(items).at(-1)).toBe(event), { interval: 20 });

/** Opens a log in Redis for a test, with a prefix of its own by default. */
export function openRedisLog(
  connect: RedisEventLogOptions['connect'],
  prefix: string = randomUUID(),
): EventLog {
  const log = redisEventLog({ connect, prefix });
  onTestFinished(() => log.close());
  return log;
}
