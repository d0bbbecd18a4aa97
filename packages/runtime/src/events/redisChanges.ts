import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisClient, RedisConnection } from '../redisConnection.ts';
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

/** How long to wait before the next attempt after an error, in milliseconds. */
const retryMs = 100;

/** An id before all changes: where a process begins that does not know which it has missed. */
const beforeAll = '0-0';

/**
 * Wakes the readers of this process: one connection waits in XREAD for the stream of changes, which has an entry for each event
 * of the log.
 */
export class RedisChanges {
  readonly #connect: () => RedisClient & RedisStreamClient;
  readonly #key: string;
  readonly #watches: ChannelWatches;
  #connection: RedisConnection<RedisClient & RedisStreamClient> | undefined = undefined;
  #last = beforeAll;
  #isFollowing = false;
  #isClosed = false;

  constructor(connect: () => RedisClient & RedisStreamClient, key: string, watches: ChannelWatches) {
    this.#connect = connect;
    this.#key = key;
    this.#watches = watches;
  }

  /** Wakes readers until there are none. */
  async follow(): Promise<void> {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    while (!this.#watches.isEmpty && !this.#isClosed) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await this.#receive();
      } catch {
        // oxlint-disable-next-line no-await-in-loop
        await sleep(retryMs);
        // Another server may have another epoch, and older changes.
        this.#last = beforeAll;
        this.#watches.wakeAll();
      }
    }
    this.#isFollowing = false;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.disconnect();
  }

  async #receive(): Promise<void> {
    this.#connection ??= new RedisConnection(this.#connect);
    const reply = await this.#connection.run(
      (client) => client.xRead({ key: this.#key, id: this.#last }, { BLOCK: blockMs, COUNT: changesKept }),
      blockTimeoutMs,
    );
    const messages = (reply as Changes)?.[0].messages ?? [];
    this.#last = messages.at(-1)?.id ?? this.#last;
    // Changes that were removed before they were read leave at least `changesKept` later ones.
    if (messages.length >= changesKept) this.#watches.wakeAll();
    else for (const { message } of messages) this.#watches.wake(message.channel);
  }
}
