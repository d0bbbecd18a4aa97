import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { hashKey, type RedisClient, RedisConnection } from '../redisConnection.ts';
import { type ChannelPage, ChannelWatches, logClosed, newEpoch, readChannel } from './channelReader.ts';
import { channelMemoryMs, type EventLog } from './eventLog.ts';
import { RedisChanges, type RedisStreamClient } from './redisChanges.ts';
import { appendScript, pagesScript } from './redisScripts.ts';

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

/** Pages that readers want at the same time, by channel and position. */
type PageRequests = Map<string, { readonly hash: string; readonly after: number }>;

interface PageBatch {
  readonly requests: PageRequests;
  readonly pages: Promise<ReadonlyMap<string, ChannelPage>>;
}

/** Epoch and last sequence number of a channel, then the sequence number and the text of each event. */
type PageReply = [epoch: string, last: number, ...events: string[]];

/** How many pages one script reads at most: it blocks the server for less than a millisecond. */
const batchPages = 100;

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
  const changesKey = `{${prefix}}:changes`;
  const changes = new RedisChanges(connect, changesKey, watches);
  const writer = randomUUID();
  const keysOf = (hash: string) => [`{${prefix}}:channel:${hash}`, `{${prefix}}:events:${hash}`];
  let batch: PageBatch | undefined;
  let appends = 0;
  let isClosed = false;

  async function readPages(requests: PageRequests): Promise<ReadonlyMap<string, ChannelPage>> {
    const wanted = [...requests.values()];
    const args = wanted.flatMap(({ after }) => [Math.max(after, 0), newEpoch()]);
    const keys = wanted.flatMap(({ hash }) => keysOf(hash));
    const replies = await redis.eval<PageReply[]>(pagesScript, keys, [channelMemoryMs, ...args]);
    const ids = [...requests.keys()];
    return new Map(replies.map((reply, at) => [ids[at] ?? '', pageOf(reply)]));
  }

  function openBatch(): PageBatch {
    const requests: PageRequests = new Map();
    const opened: PageBatch = {
      requests,
      pages: setImmediate().then(() => {
        if (batch === opened) batch = undefined;
        return readPages(requests);
      }),
    };
    return opened;
  }

  /** Reads a page together with those that other readers want in this turn of the event loop, and each only once. */
  async function readPage(hash: string, after: number): Promise<ChannelPage> {
    const { pages, requests } = (batch ??= openBatch());
    const key = `${hash} ${after}`;
    requests.set(key, { hash, after });
    if (requests.size === batchPages) batch = undefined;
    const page = (await pages).get(key);
    if (page === undefined) throw new Error('Redis has returned no page.');
    return page;
  }

  return {
    async append(channel, event, { events, ms }) {
      if (isClosed) throw logClosed();
      appends += 1;
      const hash = hashKey(channel);
      const keys = [...keysOf(hash), changesKey, `{${prefix}}:writer:${writer}:${hash}`];
      const keepMs = Math.ceil(ms);
      const id = await redis.eval<string | null>(appendScript, keys, [
        newEpoch(),
        keepMs + channelMemoryMs,
        keepMs,
        events,
        appends,
        event,
        hash,
      ]);
      if (id === null) throw new Error('The event was sent twice, and it is unknown whether it is stored.');
      return id;
    },
    read(channel, after, signal) {
      let hasBegun = false;
      /** Waits for Redis if it cannot be reached and the reader has begun. */
      const page = async (hash: string, from: number): Promise<ChannelPage> => {
        void changes.follow();
        for (;;) {
          try {
            // oxlint-disable-next-line no-await-in-loop -- until Redis can be reached
            const found = await readPage(hash, from);
            hasBegun = true;
            return found;
          } catch (error) {
            if (!hasBegun || isClosed || signal.aborted) throw error;
            // oxlint-disable-next-line no-await-in-loop
            await sleep(retryMs);
          }
        }
      };
      return readChannel({ page, watches }, hashKey(channel), after, signal);
    },
    async close() {
      isClosed = true;
      watches.close();
      changes.close();
      await redis.close();
    },
  };
}

function pageOf([epoch, last, ...entries]: PageReply): ChannelPage {
  const events = [];
  for (let at = 0; at < entries.length; at += 2) {
    const sequence = Number(entries[at]);
    events.push({ sequence, previous: sequence - 1, event: entries[at + 1] ?? '' });
  }
  return { epoch, start: 0, last, newest: last, events };
}
