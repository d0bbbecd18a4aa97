import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { EventLog, LogItem, Retention } from '../eventLog.ts';
import { redisEventLog, type RedisEventLogOptions } from '../redis.ts';

export const keepAll: Retention = { events: 100_000, ms: 3_600_000 };

/** The events as their texts, and other items as their types in parentheses. */
export const textsOf = (items: readonly LogItem[]): string[] =>
  items.map((item) => (item.type === 'event' ? item.event : `(${item.type})`));

export const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

/** Opens a log in Redis for a test, with a prefix of its own by default. */
export function openRedisLog(
  connect: RedisEventLogOptions['connect'],
  prefix: string = randomUUID(),
): EventLog {
  const log = redisEventLog({ connect, prefix });
  onTestFinished(() => log.close());
  return log;
}
