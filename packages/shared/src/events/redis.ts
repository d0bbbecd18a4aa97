import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashKey } from '../hashKey.ts';
import { type RedisClient, RedisConnection } from '../redis/redisConnection.ts';
import { type ChannelPage, ChannelWatches, logClosed, newEpoch, readChannel } from './channelReader.ts';
import { channelMemoryMs, type EventLog } from './eventLog.ts';
import { followChanges, type RedisStreamClient } from './redisChanges.ts';
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

interface PageRequest extends PromiseWithResolvers<ChannelPage> {
  readonly keys: readonly string[];
  readonly after: number;
}

/** What `pagesScript` returns for a page. */
type PageReply = [emptyEpoch: string, time: number, epoch?: string, last?: number, ...events: string[]];

/** How many pages one script reads at most: it blocks the server for less than a millisecond. */
const batchPages = 100;

/** How long a reader waits before it tries again to reach Redis, in milliseconds. */
const retryMs = 200;

/** Replies after which a reader does not wait for Redis: somebody has to change the service, or the rights of its user. */
const isFinal = (error: unknown): boolean =>
  error instanceof Error && /^(?:NOAUTH|NOPERM|WRONGPASS|WRONGTYPE) /.test(error.message);

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
  const logKey = `{${prefix}}:log`;
  const changesKey = `{${prefix}}:changes`;
  const changes = followChanges({ connect, key: changesKey, watches });
  const writer = randomUUID();
  const keysOf = (hash: string) => [`{${prefix}}:channel:${hash}`, `{${prefix}}:events:${hash}`];
  /** The pages that readers want in this turn of the event loop: each is read once, and all by one script. */
  const requested = new Map<string, PageRequest>();
  let appends = 0;
  let isClosed = false;

  async function readPages(pages: readonly PageRequest[]): Promise<void> {
    const keys = pages.flatMap((page) => page.keys);
    const args = [channelMemoryMs, newEpoch(), ...pages.map(({ after }) => Math.max(after, 0))];
    try {
      const replies = await redis.eval<PageReply[]>(pagesScript, [logKey, ...keys], args);
      for (const [at, reply] of replies.entries()) pages[at]?.resolve(pageOf(reply));
    } catch (error) {
      for (const page of pages) page.reject(error);
    }
  }

  function readRequested(): void {
    const pages = [...requested.values()];
    requested.clear();
    for (let at = 0; at < pages.length; at += batchPages) void readPages(pages.slice(at, at + batchPages));
  }

  function readPage(hash: string, after: number): Promise<ChannelPage> {
    if (requested.size === 0) setImmediate(readRequested);
    const id = `${hash} ${after}`;
    const page = requested.get(id) ?? { keys: keysOf(hash), after, ...Promise.withResolvers<ChannelPage>() };
    requested.set(id, page);
    return page.promise;
  }

  return {
    async append(channel, event, { bytes = Number.MAX_SAFE_INTEGER, events, ms }) {
      if (isClosed) throw logClosed();
      appends += 1;
      const hash = hashKey(channel);
      const keys = [logKey, ...keysOf(hash), changesKey, `{${prefix}}:writer:${writer}:${hash}`];
      const keepMs = Math.ceil(ms);
      const id = await redis.eval<string | null>(appendScript, keys, [
        newEpoch(),
        keepMs + channelMemoryMs,
        keepMs,
        events,
        bytes,
        appends,
        event,
        hash,
      ]);
      if (id === null) throw new Error('The event was sent twice, and it is unknown whether it is stored.');
      return id;
    },
    read(channel, after, signal) {
      /** Waits for Redis while it cannot be reached. */
      const page = async (hash: string, from: number): Promise<ChannelPage> => {
        void changes.follow();
        for (;;) {
          try {
            // Until Redis can be reached.
            return await readPage(hash, from);
          } catch (error) {
            if (isClosed || signal.aborted || isFinal(error)) throw error;
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

function pageOf([emptyEpoch, time, epoch, last = 0, ...entries]: PageReply): ChannelPage {
  // A channel that has had an event since then would still be known.
  const joined = { epoch: emptyEpoch, sequence: time - channelMemoryMs };
  if (epoch === undefined)
    return { epoch: emptyEpoch, start: joined.sequence, last: joined.sequence, newest: time, events: [] };
  const events = [];
  for (let at = 0; at < entries.length; at += 2) {
    const sequence = Number(entries[at]);
    events.push({ sequence, previous: sequence - 1, event: entries[at + 1] ?? '' });
  }
  return { epoch, joined, start: 0, last, newest: last, events };
}
