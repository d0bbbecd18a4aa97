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
  readonly epoch: string;
  last: number;
  readonly events: (StoredEvent & { readonly at: number })[];
  /** When the last of its events is no longer kept, by `Date.now()`. */
  keptUntil: number;
  /** When the channel is forgotten, by `Date.now()`. */
  forgottenAt: number;
}

/** How many events a reader takes at a time. */
const pageEvents = 100;

/** How many channels each append checks: more than one, so that forgotten channels cannot accumulate. */
const sweepLimit = 2;

/** Creates an event log in the memory of this process. Its events are lost when the process exits. */
export function memoryEventLog(): EventLog {
  const channels = new Map<string, Channel>();
  const watches = new ChannelWatches();
  let isClosed = false;

  /** Returns a channel that is remembered for at least `channelMemoryMs` after `keptUntil`. */
  function open(name: string, keptUntil: number): Channel {
    const found = channels.get(name);
    const isKnown = found !== undefined && found.forgottenAt > Date.now();
    const channel = isKnown
      ? found
      : { epoch: newEpoch(), last: 0, events: [], keptUntil: 0, forgottenAt: 0 };
    channel.forgottenAt = Math.max(channel.forgottenAt, keptUntil + channelMemoryMs);
    channels.set(name, channel);
    return channel;
  }

  /** Removes what is no longer kept, a few channels at a time: those that are not forgotten move to the end of the map. */
  function sweep(now: number): void {
    let checked = 0;
    for (const [name, channel] of channels) {
      if (checked === sweepLimit) return;
      checked += 1;
      channels.delete(name);
      if (channel.keptUntil <= now) channel.events.length = 0;
      if (channel.forgottenAt > now) channels.set(name, channel);
    }
  }

  function page(name: string, after: number): ChannelPage {
    const { epoch, events, last } = open(name, Date.now());
    const start = Math.max(0, after + 1 - (events[0]?.sequence ?? 0));
    return { epoch, last, events: events.slice(start, start + pageEvents) };
  }

  return {
    async append(name, event, keep) {
      if (isClosed) throw logClosed();
      const now = Date.now();
      sweep(now);
      const channel = open(name, now + keep.ms);
      const { events, epoch } = channel;
      channel.keptUntil = now + keep.ms;
      channel.last += 1;
      events.push({ sequence: channel.last, event, at: now });
      const firstKept = events.findIndex(
        ({ at }, index) => at > now - keep.ms && index >= events.length - keep.events,
      );
      events.splice(0, firstKept);
      watches.wake(name);
      return formatId(epoch, channel.last);
    },
    read: (name, after, signal) => readChannel({ page, watches }, name, after, signal),
    async close() {
      isClosed = true;
      watches.close();
      channels.clear();
    },
  };
}
