import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { redisEventLog, type RedisEventLogOptions } from '../redis.ts';

/** Opens a log in Redis for a test, with a prefix of its own by default. */
export function openRedisLog(connect: RedisEventLogOptions['connect'], prefix: string = randomUUID()) {
  const log = redisEventLog({ connect, prefix });
  onTestFinished(() => log.close());
  return log;
}
