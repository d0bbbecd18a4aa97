import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisClient, RedisConnection } from '../redisConnection.ts';
import { type ChannelPage, ChannelWatches, logClosed, newEpoch, readChannel } from './channelReader.ts';
import { channelMemoryMs, type EventLog } from './eventLog.ts';
import { LiveEvents, type RedisStreamClient } from './redisLive.ts';
import { appendScript, pageScript } from './redisScripts.ts';

export interface RedisEventLogOptions {
  /**
   * Creates a client of `redis` that is not connected, such as `() => createClient({ url })`; `createSentinel` and
   * `createCluster` work too. The log connects and closes it: one client for commands, and, while the process has readers, one
   * that waits for events. It creates another one when a server does not respond.
   */
  readonly connect: () => RedisClient & RedisStreamClient;
  /**
   * How the keys in Redis begin, in braces: in a cluster, all of them are on one server. Services that share a server need
   * different prefixes. Default: `events`.
   */
  readonly prefix?: string;
}

interface Reader {
  /** Whether it has read a page: then it waits for Redis if it cannot be reached. */
  hasBegun: boolean;
  readonly signal: AbortSignal;
}

/** How long a reader waits before it tries again to reach Redis, in milliseconds. */
const retryMs = 200;

/**
 * Opens an event log in Redis 6.2 or newer, or Valkey, for processes on several machines: a stream for each channel.
 *
 * Redis acknowledges events before they are on a disk or on a replica. When another server answers (a restart, a failover, a
 * restored backup), or keys were removed (`FLUSHALL`), each channel begins with a new epoch, and its readers get a `resync`.
 * `maxmemory-policy` may be any: what is evicted is a `resync` too.
 */
export function redisEventLog({ connect, prefix = 'events' }: RedisEventLogOptions): EventLog {
  const redis = new RedisConnection(connect);
  const watches = new ChannelWatches();
  const live = new LiveEvents({ connect, redis, watches, prefix });
  const writer = randomUUID();
  const keysOf = (channel: string) => [`{${prefix}}:channel:${channel}`, live.streamOf(channel)];
  /** Pages that are being read, by channel and position: readers of one channel often want the same. */
  const pending = new Map<string, Promise<ChannelPage>>();
  let appends = 0;
  let isClosed = false;

  async function readPage(channel: string, after: number): Promise<ChannelPage> {
    const from = after === Infinity ? -1 : after;
    const [epoch, start, last, ...entries] = await redis.eval<[string, string, number, ...string[]]>(
      pageScript,
      keysOf(channel),
      [newEpoch(), channelMemoryMs, from],
    );
    const events = [];
    for (let at = 0; at < entries.length; at += 2)
      events.push({ sequence: Number(entries[at]), event: entries[at + 1] ?? '' });
    live.follow(channel, { epoch, start, last });
    return { epoch, last, events };
  }

  function sharedPage(channel: string, after: number): Promise<ChannelPage> {
    // A reader that joins must not get a position from before.
    if (after === Infinity) return readPage(channel, after);
    const key = `${after} ${channel}`;
    const shared = pending.get(key) ?? readPage(channel, after).finally(() => pending.delete(key));
    pending.set(key, shared);
    return shared;
  }

  /** Reads a page for a reader, and waits for Redis if it cannot be reached and the reader has begun. */
  async function pageFor(reader: Reader, channel: string, after: number): Promise<ChannelPage> {
    for (;;) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- until Redis can be reached
        const page = await sharedPage(channel, after);
        reader.hasBegun = true;
        return page;
      } catch (error) {
        if (!reader.hasBegun || isClosed || reader.signal.aborted) throw error;
        // oxlint-disable-next-line no-await-in-loop
        await sleep(retryMs);
      }
    }
  }

  return {
    async append(channel, event, { events, ms }) {
      if (isClosed) throw logClosed();
      appends += 1;
      const keys = [...keysOf(channel), `{${prefix}}:writer:${writer}:${channel}`];
      const keepMs = Math.ceil(ms);
      const id = await redis.eval<string | null>(appendScript, keys, [
        newEpoch(),
        keepMs + channelMemoryMs,
        keepMs,
        events,
        appends,
        event,
      ]);
      if (id === null) throw new Error('The event was sent twice, and it is unknown whether it is stored.');
      return id;
    },
    read(channel, after, signal) {
      const reader: Reader = { hasBegun: false, signal };
      const page = (name: string, from: number) => {
        // The id of a new reader may be of a later epoch than what was received.
        const received = reader.hasBegun ? live.page(name, from) : undefined;
        return received ?? pageFor(reader, name, from);
      };
      return readChannel({ page, watches }, channel, after, signal);
    },
    async close() {
      isClosed = true;
      watches.close();
      live.close();
      await redis.close();
    },
  };
}
