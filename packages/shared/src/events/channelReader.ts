import { randomBytes } from 'node:crypto';
import { beginning, type LogItem } from './eventLog.ts';

/**
 * What a log stores of one channel, as of one moment. Positions are sequence numbers, of the channel or of the whole log: those of
 * a channel grow, and a reader at a position has all earlier events.
 */
export interface ChannelPage {
  /** Positions of another epoch are unknown. */
  readonly epoch: string;
  /** The position before the first event of the channel. */
  readonly start: number;
  /** Sequence number of its newest event; `start` before the first. */
  readonly last: number;
  /** The position of new readers: `last` or higher. There is no higher one. */
  readonly newest: number;
  /**
   * The oldest position of the readers that have joined the channel before its first event, and missed none. Default: `start`, since
   * positions in channels without events are of the same epoch.
   */
  readonly joined?: Position;
  /** The oldest kept events of the requested ones, in order. Empty only if there are none. */
  readonly events: readonly StoredEvent[];
}

export interface StoredEvent {
  readonly sequence: number;
  /** Sequence number of the event before it in its channel, kept or not; `start` for the first. Events between are missing. */
  readonly previous: number;
  readonly event: string;
}

/** What a backend provides to the readers of its log. */
export interface ChannelSource {
  /**
   * Reads about 100 kept events, in memory until taken. It may wait for the backend; a rejection ends the reader.
   * @param after -1: all events. `Infinity`: none, but the page is as new as any id that a client may have
   */
  readonly page: (channel: string, after: number) => ChannelPage | Promise<ChannelPage>;
  readonly watches: ChannelWatches;
}

export const newEpoch = (): string => randomBytes(6).toString('hex');

export const formatId = (epoch: string, sequence: number): string => `${epoch}-${sequence}`;

interface Position {
  epoch: string;
  sequence: number;
}

/** Reads an id. A malformed one is of an epoch that no log has. */
export function parseId(id: string): Position {
  const [, epoch = '', sequence = '0'] = /^([0-9A-Za-z]{1,32})-(0|[1-9]\d{0,14})$/.exec(id) ?? [];
  return { epoch, sequence: Number(sequence) };
}

/** Implements `EventLog.read` for a backend. */
export async function* readChannel(
  source: ChannelSource,
  channel: string,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<LogItem, void, void> {
  const watch = source.watches.open(channel, signal);
  try {
    const position = parseId(after ?? beginning);
    if (after === undefined || after === beginning) {
      const page = await watch.orEnd(source.page(channel, Infinity));
      if (page === undefined) return;
      const isJoining = after === undefined || page.last === page.start;
      position.epoch = page.epoch;
      position.sequence = isJoining ? page.newest : page.start;
      if (isJoining) yield { type: 'joined', id: formatId(position.epoch, position.sequence) };
    }
    while (!watch.isEnded) {
      watch.hasChanged = false;
      const page = await watch.orEnd(source.page(channel, position.sequence));
      if (page === undefined) return;
      const { epoch, events, joined, last, newest, start } = page;
      if (epoch !== position.epoch || newest < position.sequence) {
        const hasJoined = joined?.epoch === position.epoch && joined.sequence <= position.sequence;
        position.epoch = epoch;
        // Lower than any other: a gap is before all that follows.
        position.sequence = hasJoined ? start : -1;
        continue;
      }
      for (const { event, previous, sequence } of events) {
        if (watch.isEnded) return;
        if (previous > position.sequence) yield { type: 'resync', id: formatId(epoch, previous) };
        position.sequence = sequence;
        if (watch.isEnded) return;
        yield { type: 'event', id: formatId(epoch, sequence), event };
      }
      if (events.length === 0 && last > position.sequence) {
        position.sequence = newest;
        yield { type: 'resync', id: formatId(epoch, newest) };
      }
      if (last <= position.sequence) await watch.changed();
    }
  } finally {
    watch.close();
  }
}

/** What a reader waits for: a change of its channel, or its end. */
class ChannelWatch {
  /** Set by the reader before it reads, so that a change meanwhile is not lost. */
  hasChanged = false;
  isEnded = false;
  /** Called at each change, and at the end. */
  #onWake = (): void => {};
  readonly close: () => void;

  constructor(close: () => void) {
    this.close = close;
  }

  /** Resolves when the channel has changed since `hasChanged` was reset, or the reader has to end. */
  changed(): Promise<void> | undefined {
    if (this.hasChanged || this.isEnded) return undefined;
    return new Promise((resolve) => (this.#onWake = resolve));
  }

  /** Resolves with a value, or with `undefined` when the reader has to end: a backend may wait for its connection. */
  orEnd<T>(value: T | Promise<T>): T | Promise<T | undefined> | undefined {
    if (!(value instanceof Promise)) return this.isEnded ? undefined : value;
    return new Promise<T | undefined>((resolve, reject) => {
      this.#onWake = () => this.isEnded && resolve(undefined);
      this.#onWake();
      value.then(resolve, reject);
    });
  }

  wake(): void {
    this.hasChanged = true;
    this.#onWake();
  }

  end(): void {
    this.isEnded = true;
    this.wake();
  }
}

/** The channels that have readers in this process. */
export class ChannelWatches {
  readonly #watches = new Map<string, Set<ChannelWatch>>();
  #isClosed = false;

  /** @throws if the log is closed */
  open(channel: string, signal: AbortSignal): ChannelWatch {
    if (this.#isClosed) throw logClosed();
    const end = () => watch.end();
    const watch = new ChannelWatch(() => {
      signal.removeEventListener('abort', end);
      const readers = this.#watches.get(channel);
      readers?.delete(watch);
      if (readers?.size === 0) this.#watches.delete(channel);
    });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) watch.end();
    const readers = this.#watches.get(channel) ?? new Set();
    this.#watches.set(channel, readers.add(watch));
    return watch;
  }

  get isEmpty(): boolean {
    return this.#watches.size === 0;
  }

  wakeAll(): void {
    for (const channel of this.#watches.keys()) this.wake(channel);
  }

  wake(channel: string): void {
    for (const watch of this.#watches.get(channel) ?? []) watch.wake();
  }

  /** Ends all readers. */
  close(): void {
    this.#isClosed = true;
    for (const readers of this.#watches.values()) for (const watch of readers) watch.end();
  }
}

export const logClosed = (): Error => new Error('The event log is closed.');
