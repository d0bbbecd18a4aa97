/**
 * Keeps the events of channels for some time, in order, so that readers which disconnect continue where they were. It knows
 * neither schemas nor protocols: an event is a text, usually JSON, and a channel is any string.
 *
 * Each event has an id, `epoch-sequence`, such as `9f86d081a3c4-17`:
 *
 * - The sequence numbers of a channel grow, in the order in which its events are stored. A log may number the events of all its
 *   channels together.
 * - The epoch is 1 to 32 letters and digits. It changes if events of an earlier epoch may be missing or different: the log was
 *   flushed, restored from a backup, or replaced by another. An id of an epoch thus names one event forever. A position in a
 *   channel without events may be of another epoch than the events that follow it.
 */
export interface EventLog {
  /**
   * Stores an event at the end of its channel, and removes the events of the channel that are no longer kept. Appends that
   * one process starts are stored in the order in which they were started.
   * @returns the id of the event. It is stored as durably as the log stores anything: readers may have received it already
   * @throws if the log cannot be reached or written within its deadline (5 s or less). Whether the event was stored is then
   * unknown, unless the error says so
   */
  append(channel: string, event: string, keep: Retention): Promise<string>;

  /**
   * Reads a channel: what is kept after `after`, once each and in order, then events as they are appended, by any process.
   * It ends when the signal is aborted or the log is closed, and never by itself.
   *
   * The first item of a reader without a past is one `joined`. Wherever events are missing, one `resync` takes their
   * place, and the reader goes on with what is there: the oldest kept event first. See `LogItem`.
   *
   * It holds few events in memory, however slowly it is read: it reads from its own position in the log. A reader that is
   * so slow that events after its position are removed gets a `resync`.
   *
   * A reader survives outages of the backend: it waits, also before its first item, and continues after its position.
   * @param after the id of the last event that the reader has; or of a `joined` or `resync`. Any text is accepted, since
   * ids come from clients: a malformed id is one of another epoch. `beginning` reads all events of the channel, with a
   * `resync` first if the first is no longer kept, or `joined` if there has been none. `undefined`: only events from now on
   * @param signal aborts a pending `next()`, which then resolves as done
   * @throws if the log is closed or no longer usable
   */
  read(channel: string, after: string | undefined, signal: AbortSignal): AsyncIterable<LogItem>;

  /** Ends all readers, waits for pending appends and releases the backend. `append` and `read` throw afterwards. */
  close(): Promise<void>;
}

/** How long the events of a channel are kept: until one of the limits is reached. */
export interface Retention {
  /** How many of the newest events are kept; at least 1. */
  readonly events: number;
  /** How long an event is kept, in ms of the log's clock; at least 1. Older ones may be read until the next append to the channel. */
  readonly ms: number;
  /** How many bytes of the newest events are kept, as UTF-8. The newest event is kept however large it is. Default: any. */
  readonly bytes?: number;
}

/**
 * What a reader gets. The id of each item is a position: a reader with it as `after` gets what follows the item.
 *
 * - `joined`: the reader has no past and reads events from here on. Once, first, and only without `after`, or with `beginning`
 *   if the channel has had no event. A client that has its id misses nothing if it disconnects before its first event.
 * - `event`: an event of the channel.
 * - `resync`: events between the previous item (or `after`) and the next are missing: they are no longer kept, or it cannot be
 *   known which they are, because `after` is of another epoch or later than the newest event. One `resync` stands for all
 *   that are missing in one place.
 */
export type LogItem =
  | { readonly type: 'joined'; readonly id: string }
  | { readonly type: 'event'; readonly id: string; readonly event: string }
  | { readonly type: 'resync'; readonly id: string };

/** `after` of a reader of all events of a channel. */
export const beginning = '0';

/**
 * How long a log remembers a channel, at least, after its last event is no longer kept: one day. Then `beginning` finds no event,
 * and a reader whose last item is older may get a `resync` with the next event.
 */
export const channelMemoryMs = 86_400_000;
