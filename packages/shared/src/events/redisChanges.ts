import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisClient, RedisConnection } from '../redis/redisConnection.ts';
import type { ChannelWatches } from './channelReader.ts';
import { changesKept } from './redisScripts.ts';

/** What is used of a client of `redis` besides what every connection uses. */
export interface RedisStreamClient {
  xRead(
    stream: { readonly key: string; readonly id: string },
    options: { readonly BLOCK: number; readonly COUNT: number },
  ): Promise<unknown>;
}

/** What XREAD of the stream of changes returns, as `redis` types it; `null` after `blockMs`. */
type Changes =
  | readonly [
      {
        readonly messages: readonly { readonly id: string; readonly message: { readonly channel: string } }[];
      },
    ]
  | null;

/** How long the server waits for changes, in milliseconds, and how much later the connection counts as lost. */
const blockMs = 2000;
const blockTimeoutMs = blockMs + 2000;

/** How long changes gather before the next XREAD, in milliseconds: at thousands a second, each would cost a round trip. */
const gatherMs = 3;

/** How long to wait before the next attempt after an error, in milliseconds. */
const retryMs = 100;

/** An id before all changes: where a process begins that does not know which it has missed. */
const beforeAll = '0-0';

interface FollowOptions {
  readonly connect: () => RedisClient & RedisStreamClient;
  /** The stream of changes, which has an entry for each event of the log. */
  readonly key: string;
  readonly watches: ChannelWatches;
}

/** Wakes the readers of this process when their channels change: one connection waits in XREAD while there are any. */
export function followChanges({ connect, key, watches }: FollowOptions) {
  let connection: RedisConnection<RedisClient & RedisStreamClient> | undefined;
  let last = beforeAll;
  let isFollowing = false;
  const closed = new AbortController();

  async function wakeReaders(): Promise<void> {
    connection ??= new RedisConnection(connect);
    const reply = await connection.run(
      (client) => client.xRead({ key, id: last }, { BLOCK: blockMs, COUNT: changesKept }),
      blockTimeoutMs,
    );
    const messages = (reply as Changes)?.[0].messages ?? [];
    last = messages.at(-1)?.id ?? last;
    // Changes that were removed before they were read leave at least `changesKept` later ones.
    if (messages.length >= changesKept) watches.wakeAll();
    else for (const { message } of messages) watches.wake(message.channel);
    if (messages.length > 0) await sleep(gatherMs);
  }

  return {
    /** Begins for the first reader, and ends after the last. */
    async follow(): Promise<void> {
      if (isFollowing) return;
      isFollowing = true;
      while (!watches.isEmpty && !closed.signal.aborted) {
        try {
          await wakeReaders();
        } catch {
          await sleep(retryMs);
          // Another server may have another epoch, and older changes.
          last = beforeAll;
          watches.wakeAll();
        }
      }
      isFollowing = false;
    },
    close(): void {
      closed.abort();
      connection?.disconnect();
    },
  };
}
