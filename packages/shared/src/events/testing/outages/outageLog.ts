import { IORedisPublisher } from '@orpc/experimental-publisher/ioredis';
import { getEventMeta } from '@orpc/standard-server';
import { Redis } from 'ioredis';
import { createClient, createSentinel } from 'redis';
import type { LogItem } from '../../eventLog.ts';
import { redisEventLog } from '../../redis.ts';

export interface OutageLogOptions {
  /** `orpc`: the publisher of oRPC for Redis. */
  readonly kind: 'log' | 'orpc';
  /** Of a Redis server, or of the Sentinel of a group. */
  readonly port: number;
  readonly isSentinel: boolean;
}

/** What a worker of the outage test appends to and reads. */
export interface OutageLog {
  readonly append: (channel: string, event: string, keep: number) => Promise<string>;
  readonly read: (channel: string, after: string | undefined, signal: AbortSignal) => AsyncIterable<LogItem>;
}

export const openOutageLog = (options: OutageLogOptions): OutageLog =>
  options.kind === 'log' ? openLog(options) : openPublisher(options);

const host = '127.0.0.1';
const keptMs = 3_600_000;

function openLog({ isSentinel, port }: OutageLogOptions): OutageLog {
  const log = redisEventLog({
    connect: () =>
      isSentinel
        ? createSentinel({ name: 'tests', sentinelRootNodes: [{ host, port }] })
        : createClient({ url: `redis://${host}:${port}` }),
  });
  return {
    append: (channel, event, keep) => log.append(channel, event, { events: keep, ms: keptMs }),
    read: (channel, after, signal) => log.read(channel, after, signal),
  };
}

/** With resume, and with a buffer that no slow reader fills: only what outages lose is lost. */
function openPublisher({ isSentinel, port }: OutageLogOptions): OutageLog {
  const connect = () => {
    const client = isSentinel
      ? new Redis({ sentinels: [{ host, port }], name: 'tests' })
      : new Redis({ host, port });
    // The publisher reports errors of its listener to subscribers; without a listener, those of the other end the process.
    client.on('error', () => {});
    return client;
  };
  const publisher = new IORedisPublisher<Record<string, { event: string }>>({
    commander: connect(),
    listener: connect(),
    resumeRetentionSeconds: keptMs / 1000,
    maxBufferedEvents: 1_000_000,
  });
  return {
    async append(channel, event) {
      await publisher.publish(channel, { event });
      // It has an id, which `publish` does not return.
      return event;
    },
    async *read(channel, after, signal) {
      const iterator = publisher.subscribe(channel, {
        signal,
        ...(after !== undefined && after !== '' && { lastEventId: after }),
      });
      yield { type: 'joined', id: after ?? '' };
      for await (const payload of iterator) {
        yield { type: 'event', id: getEventMeta(payload)?.id ?? '', event: payload.event };
      }
    },
  };
}
