import { randomBytes } from 'node:crypto';
import { beginning, type LogItem } from './eventLog.ts';

/** What a log stores of one channel, as of one moment. */
export interface ChannelPage {
  readonly epoch: string;
  /** Sequence number of the newest event; 0 before the first. */
  readonly last: number;
  /** The oldest kept events of the requested ones, in order. Empty only if there are none. */
  readonly events: readonly StoredEvent[];
}

export interface StoredEvent {
  readonly sequence: number;
  readonly event: string;
}

/** What a backend provides to the readers of its log. */
export interface ChannelSource {
  /**
   * Reads kept events with higher sequence numbers than `after`: about 100, as they are in memory until the reader has taken
   * them. Begins an unknown channel with a new epoch. It may wait while the backend cannot be reached; a rejection ends the
   * reader with an error.
   * @param after `Infinity`: no events
   */
  readonly page: (channel: string, after: number) => ChannelPage | Promise<ChannelPage>;
  readonly watches: ChannelWatches;
}

/** Creates the epoch of a channel that begins. */
export const newEpoch = (): string => randomBytes(6).toString('hex');

export const formatId = (epoch: string, sequence: number): string => `${epoch}-${sequence}`;

interface Position {
  epoch: string;
  sequence: number;
}

/** Reads an id. A malformed one is of an epoch that no channel has. */
function parseId(id: string): Position {
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
    const position = await startPosition(source, channel, after, watch);
    if (position === undefined) return;
    if (after === undefined) yield { type: 'joined', id: formatId(position.epoch, position.sequence) };
    let isLost = false;
    while (!watch.isEnded) {
      watch.hasChanged = false;
      // oxlint-disable-next-line no-await-in-loop -- one page after the other
      const page = await watch.orEnd(source.page(channel, position.sequence));
      if (page === undefined) return;
      const { epoch, last, events } = page;
      if (epoch !== position.epoch || last < position.sequence) {
        isLost = true;
        position.epoch = epoch;
        position.sequence = 0;
        continue;
      }
      for (const { event, sequence } of events) {
        if (watch.isEnded) return;
        if (isLost || sequence !== position.sequence + 1)
          yield { type: 'resync', id: formatId(epoch, sequence - 1) };
        isLost = false;
        position.sequence = sequence;
        if (watch.isEnded) return;
        yield { type: 'event', id: formatId(epoch, sequence), event };
      }
      if (events.length > 0) continue;
      if (isLost || last !== position.sequence) {
        isLost = false;
        position.sequence = last;
        yield { type: 'resync', id: formatId(epoch, last) };
      }
      // oxlint-disable-next-line no-await-in-loop -- until there is more to read
      await watch.changed();
    }
  } finally {
    watch.close();
  }
}

/** Returns where a reader begins; `undefined` if it has to end. */
async function startPosition(
  source: ChannelSource,
  channel: string,
  after: string | undefined,
  watch: ChannelWatch,
): Promise<Position | undefined> {
  if (after !== undefined && after !== beginning) return parseId(after);
  const page = await watch.orEnd(source.page(channel, Infinity));
  return page && { epoch: page.epoch, sequence: after === beginning ? 0 : page.last };
}

/** What a reader waits for: a change of its channel, or its end. */
class ChannelWatch {
  /** Set by the reader before it reads, so that a change meanwhile is not lost. */
  hasChanged = false;
  isEnded = false;
  #wake: (() => void) | undefined = undefined;
  #onEnd: (() => void) | undefined = undefined;
  readonly close: () => void;

  constructor(close: () => void) {
    this.close = close;
  }

  /** Resolves when the channel has changed since `hasChanged` was reset, or the reader has to end. */
  changed(): Promise<void> | undefined {
    if (this.hasChanged || this.isEnded) return undefined;
    return new Promise((resolve) => (this.#wake = resolve));
  }

  /** Resolves with a value, or with `undefined` when the reader has to end: a backend may wait for its connection. */
  orEnd<T>(value: T | Promise<T>): T | Promise<T | undefined> | undefined {
    if (this.isEnded || !(value instanceof Promise)) return this.isEnded ? undefined : value;
    return new Promise<T | undefined>((resolve, reject) => {
      this.#onEnd = () => resolve(undefined);
      value.then(resolve, reject);
    });
  }

  wake(): void {
    this.hasChanged = true;
    this.#wake?.();
    this.#wake = undefined;
  }

  end(): void {
    this.isEnded = true;
    this.#onEnd?.();
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

  /** The channels with readers. */
  get channels(): Iterable<string> {
    return this.#watches.keys();
  }

  get isEmpty(): boolean {
    return this.#watches.size === 0;
  }

  /** Wakes the readers of all channels. */
  wakeAll(): void {
    for (const channel of this.#watches.keys()) this.wake(channel);
  }

  /** Wakes the readers of a channel. */
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
