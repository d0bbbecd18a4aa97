import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisClient, RedisConnection } from '../redisConnection.ts';
import type { ChannelPage, ChannelWatches, StoredEvent } from './channelReader.ts';
import { wakeScript } from './redisScripts.ts';

interface StreamEntries {
  readonly name: string;
  readonly messages: readonly { readonly id: string; readonly message: Readonly<Record<string, string>> }[];
}

/** What is used of a client of `redis` besides what every connection uses. */
export interface RedisStreamClient {
  xRead(
    streams: { readonly key: string; readonly id: string }[],
    options: { readonly BLOCK: number; readonly COUNT: number },
  ): Promise<unknown>;
}

/** The newest events of a channel, which the process has received. */
interface Tail {
  readonly epoch: string;
  /** The first part of the ids in the stream. */
  readonly start: string;
  last: number;
  /** Those until `last`, without gaps. */
  readonly events: StoredEvent[];
  size: number;
}

/** How long the server waits for events, in milliseconds, and how much later the connection counts as lost. */
const blockMs = 2000;
const blockTimeoutMs = blockMs + 2000;

/** How long to wait before the next attempt after an error, in milliseconds. */
const retryMs = 100;

/**
 * How many of the newest events of a channel are in memory, and how many characters they may have. Readers that fall further
 * behind read from Redis.
 */
const tailEvents = 400;
const tailSize = 1_000_000;

/** How many events readers take at a time. */
const pageEvents = 100;

interface LiveEventsOptions {
  readonly connect: () => RedisClient & RedisStreamClient;
  /** The connection for commands. */
  readonly redis: RedisConnection;
  readonly watches: ChannelWatches;
  readonly prefix: string;
}

/**
 * Receives the events of all channels with readers in this process over one connection, which waits in XREAD. After any error,
 * and wherever sequence numbers are not consecutive, it forgets what it has received and wakes the readers: they read from
 * their own positions, and find what is missing.
 */
export class LiveEvents {
  readonly #options: LiveEventsOptions;
  readonly #prefix: string;
  readonly #tails = new Map<string, Tail>();
  /** A stream of this process: an entry ends its XREAD. */
  readonly #wake: { readonly key: string; id: string };
  #blocking: RedisConnection<RedisClient & RedisStreamClient> | undefined = undefined;
  #isReading = false;
  #isClosed = false;

  constructor(options: LiveEventsOptions) {
    this.#options = options;
    this.#prefix = `{${options.prefix}}:events:`;
    this.#wake = { key: `{${options.prefix}}:wake:${randomUUID()}`, id: '0-0' };
  }

  /** The key of the stream of a channel. */
  streamOf(channel: string): string {
    return this.#prefix + channel;
  }

  /** Receives the events of a channel after `last`, unless it receives those of the epoch already. */
  follow(channel: string, { epoch, start, last }: Pick<Tail, 'epoch' | 'start' | 'last'>): void {
    const known = this.#tails.get(channel);
    if (this.#isClosed || known?.epoch === epoch) return;
    this.#tails.set(channel, { epoch, start, last, events: [], size: 0 });
    // The XREAD that would have reported the new epoch to the other readers does not ask for its first events any more.
    if (known !== undefined) this.#options.watches.wake(channel);
    if (this.#isReading) this.#interrupt();
    else void this.#receiveAll();
  }

  /** Returns a page if all of its events have been received. */
  page(channel: string, after: number): ChannelPage | undefined {
    const tail = this.#tails.get(channel);
    if (tail === undefined) return undefined;
    const { epoch, events, last } = tail;
    const from = after - (last - events.length);
    if (from < 0 || after > last) return undefined;
    return { epoch, last, events: events.slice(from, from + pageEvents) };
  }

  close(): void {
    this.#isClosed = true;
    this.#tails.clear();
    this.#blocking?.disconnect();
  }

  /** Ends the XREAD that does not know a new channel. If that fails, it ends after `blockMs`. */
  #interrupt(): void {
    this.#options.redis.eval(wakeScript, [this.#wake.key], []).catch(() => {});
  }

  async #receiveAll(): Promise<void> {
    this.#isReading = true;
    while (this.#hasReaders()) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await this.#receive();
      } catch {
        this.#tails.clear();
        this.#options.watches.wakeAll();
        // oxlint-disable-next-line no-await-in-loop
        await sleep(retryMs);
      }
    }
    this.#isReading = false;
  }

  /** Forgets channels without readers. @returns whether any is left */
  #hasReaders(): boolean {
    const channels = new Set(this.#options.watches.channels);
    for (const channel of this.#tails.keys()) if (!channels.has(channel)) this.#tails.delete(channel);
    return this.#tails.size > 0;
  }

  async #receive(): Promise<void> {
    this.#blocking ??= new RedisConnection(this.#options.connect);
    const streams = Array.from(this.#tails, ([channel, { start, last }]) => ({
      key: this.streamOf(channel),
      id: `${start}-${last}`,
    }));
    const reply = await this.#blocking.run(
      (client) => client.xRead([this.#wake, ...streams], { BLOCK: blockMs, COUNT: pageEvents }),
      blockTimeoutMs,
    );
    // As `redis` types it; `null` after `blockMs`.
    for (const { messages, name } of (reply as readonly StreamEntries[] | null) ?? []) {
      if (name === this.#wake.key) this.#wake.id = messages.at(-1)?.id ?? this.#wake.id;
      else this.#add(name.slice(this.#prefix.length), messages);
    }
  }

  #add(channel: string, messages: StreamEntries['messages']): void {
    const tail = this.#tails.get(channel);
    for (const { id, message } of messages) {
      const dash = id.indexOf('-');
      const [start, sequence] = [id.slice(0, dash), Number(id.slice(dash + 1))];
      if (tail?.start !== start || sequence > tail.last + 1) {
        this.#tails.delete(channel);
        break;
      }
      if (sequence <= tail.last) continue;
      const event = message['event'] ?? '';
      tail.last = sequence;
      tail.size += event.length;
      tail.events.push({ sequence, event });
      while (tail.events.length > tailEvents || tail.size > tailSize)
        tail.size -= tail.events.shift()?.event.length ?? 0;
    }
    this.#options.watches.wake(channel);
  }
}
