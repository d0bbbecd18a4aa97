import { counter, gauge, type MetricFamily } from '../metrics/family.ts';
import type { EventLog } from './eventLog.ts';

/** An event log with the readiness check and the metrics that `start` of `run` returns. */
export interface MeasuredEventLog extends EventLog {
  /** Reads from the log. @throws if it does not respond within a second */
  readonly ready: () => Promise<void>;
  /** Returns the metrics of this process, by the names of channels and of `resumable`. */
  readonly metrics: () => readonly MetricFamily[];
}

const counters = {
  published: 'Events that were stored.',
  rejected: 'Events that could not be stored.',
  delivered: 'Events that subscribers received.',
  resync: 'How often subscribers learned that events are missing.',
};

/** The events of the channels of one name. */
interface Counts extends Record<keyof typeof counters, number> {
  readonly subscribers: Set<Subscriber>;
}

interface Subscriber {
  /** Since when it has not requested its next event, by `performance.now()`; `undefined` while it waits for one. */
  busySince: number | undefined;
}

function lagSeconds({ subscribers }: Counts): number {
  const now = performance.now();
  return Math.max(0, ...Array.from(subscribers, ({ busySince = now }) => now - busySince)) / 1000;
}

const readyTimeoutMs = 1000;

/**
 * Measures the events of a log, and checks whether it can be reached:
 *
 * ```ts
 * const log = measuredEventLog(folderEventLog({ path: 'data/events' }));
 * return { gateway, checks: { events: log.ready }, metrics: log.metrics };
 * ```
 */
export function measuredEventLog(log: EventLog): MeasuredEventLog {
  const counted = new Map<string, Counts>();

  function countsOf(channel: string): Counts {
    const [, name] = /^([\w.-]+)[:/]/.exec(channel) ?? [];
    const found = counted.get(name ?? '');
    if (found) return found;
    const counts = { published: 0, rejected: 0, delivered: 0, resync: 0, subscribers: new Set<Subscriber>() };
    // Not those of the check, and of the heartbeats of `resumable`.
    if (name !== undefined) counted.set(name, counts);
    return counts;
  }

  const samples = (valueOf: (counts: Counts) => number) =>
    Array.from(counted, ([channel, counts]) => ({ labels: { channel }, value: valueOf(counts) }));

  return {
    async append(channel, event, keep) {
      const counts = countsOf(channel);
      try {
        const id = await log.append(channel, event, keep);
        counts.published += 1;
        return id;
      } catch (error) {
        counts.rejected += 1;
        throw error;
      }
    },
    async *read(channel, after, signal) {
      const counts = countsOf(channel);
      const subscriber: Subscriber = { busySince: undefined };
      counts.subscribers.add(subscriber);
      try {
        for await (const item of log.read(channel, after, signal)) {
          if (item.type === 'event') counts.delivered += 1;
          if (item.type === 'resync') counts.resync += 1;
          subscriber.busySince = performance.now();
          yield item;
          subscriber.busySince = undefined;
        }
      } finally {
        counts.subscribers.delete(subscriber);
      }
    },
    close: () => log.close(),
    async ready() {
      const signal = AbortSignal.timeout(readyTimeoutMs);
      for await (const _ of log.read('ready', undefined, signal)) return;
      throw new Error(`The event log has not responded for ${readyTimeoutMs} ms.`);
    },
    metrics: () => [
      ...Object.entries(counters).map(
        ([name, help]) =>
          counter(
            `events_${name}_total`,
            help,
            samples((counts) => counts[name as keyof typeof counters]),
          ), // Its own keys.
      ),
      {
        ...gauge('events_subscribers', 'Subscribers.', 0),
        values: samples(({ subscribers }) => subscribers.size),
      },
      {
        ...gauge('events_lag_seconds', 'How long the slowest subscriber has held its last event.', 0, 'max'),
        values: samples(lagSeconds),
      },
    ],
  };
}
