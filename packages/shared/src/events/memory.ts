import {
  type ChannelPage,
  ChannelWatches,
  formatId,
  logClosed,
  newEpoch,
  readChannel,
  type StoredEvent,
} from './channelReader.ts';
import { channelMemoryMs, type EventLog } from './eventLog.ts';

interface Channel {
  /** The position before its first event. */
  readonly start: number;
  /** Sequence number of its newest event. */
  last: number;
  readonly events: (StoredEvent & { readonly at: number; readonly bytesBefore: number })[];
  /** Bytes of all its events, kept or not. */
  bytes: number;
  /** When the last of its events is no longer kept, by `Date.now()`. */
  keptUntil: number;
}

/** How many events a reader takes at a time. */
const pageEvents = 100;

/** How many channels each append checks: more than one, so that expired ones cannot accumulate. */
const sweepLimit = 2;

/** Creates an event log in the memory of this process. Its events are lost when the process exits. */
export function memoryEventLog(): EventLog {
  const epoch = newEpoch();
  const channels = new Map<string, Channel>();
  const watches = new ChannelWatches();
  /** Sequence number of the newest event of all channels. */
  let newest = 0;
  /** The highest sequence number of the channels that were forgotten. */
  let forgotten = 0;
  let isClosed = false;

  const channelOf = (name: string): Channel =>
    channels.get(name) ?? { start: forgotten, last: forgotten, events: [], bytes: 0, keptUntil: 0 };

  /** Removes what is no longer kept, a few channels at a time: those that are not forgotten move to the end of the map. */
  function sweep(now: number): void {
    let checked = 0;
    for (const [name, channel] of channels) {
      if (checked === sweepLimit) return;
      checked += 1;
      channels.delete(name);
      if (channel.keptUntil <= now) channel.events.length = 0;
      if (channel.keptUntil + channelMemoryMs > now) channels.set(name, channel);
      else forgotten = Math.max(forgotten, channel.last);
    }
  }

  function page(name: string, after: number): ChannelPage {
    const { events, last, start } = channelOf(name);
    // From the end, where most readers are.
    const from = events.findLastIndex(({ sequence }) => sequence <= after) + 1;
    return { epoch, start, last, newest, events: events.slice(from, from + pageEvents) };
  }

  return {
    async append(name, event, keep) {
      if (isClosed) throw logClosed();
      const now = Date.now();
      sweep(now);
      const channel = channelOf(name);
      channels.set(name, channel);
      const { bytes: bytesBefore, events, last } = channel;
      newest += 1;
      events.push({ sequence: newest, previous: last, event, at: now, bytesBefore });
      channel.last = newest;
      channel.bytes += Buffer.byteLength(event);
      channel.keptUntil = now + keep.ms;
      const firstBytes = channel.bytes - (keep.bytes ?? Infinity);
      const firstKept = events.findIndex(
        (each, index) =>
          each.sequence === newest ||
          (each.at > now - keep.ms && index >= events.length - keep.events && each.bytesBefore >= firstBytes),
      );
      events.splice(0, firstKept);
      watches.wake(name);
      return formatId(epoch, newest);
    },
    read: (name, after, signal) => readChannel({ page, watches }, name, after, signal),
    async close() {
      isClosed = true;
      watches.close();
      channels.clear();
    },
  };
}
