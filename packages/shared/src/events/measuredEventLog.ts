import type { EventLog } from './eventLog.ts';
import { logTimeoutMs } from './logErrors.ts';

/** A metric with its values by channel, in the format of prom-client's `getMetricsAsJSON`. */
export interface EventMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** How the values of several processes are combined. */
  readonly aggregator: 'sum' | 'max';
  readonly values: readonly { readonly labels: { readonly channel: string }; readonly value: number }[];
}

/** An event log with the readiness check and the metrics that `start` of `run` returns. */
export interface MeasuredEventLog extends EventLog {
  /** Reads from the log. @throws if it does not respond within a second */
  readonly ready: () => Promise<void>;
  /** Returns the metrics of this process, by the names of channels and of `resumable`. */
  readonly metrics: () => readonly EventMetric[];
}

const counters = {
  published: 'Events that were stored within 1.5 s.',
  rejected: 'Events that were not stored within 1.5 s: each publish that failed.',
  delivered: 'Events that subscribers received.',
  resync: 'How often subscribers learned that events are missing.',
};

const countNames = Object.keys(counters) as (keyof typeof counters)[]; // Its own keys.

/** The events of the channels of one name. */
interface Counts extends Record<keyof typeof counters, number> {
  readonly subscribers: Set<Subscriber>;
}

interface Subscriber {
  /** Since when it has not requested its next event, by `performance.now()`; `undefined` while it waits for one. */
  busySince: number | undefined;
}

const lagHelp = 'How long the slowest subscriber has held its last event.';

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

  const metric = (of: Omit<EventMetric, 'values'>, valueOf: (counts: Counts) => number): EventMetric => ({
    ...of,
    values: Array.from(counted, ([channel, counts]) => ({ labels: { channel }, value: valueOf(counts) })),
  });

  return {
    async append(channel, event, keep) {
      const counts = countsOf(channel);
      let outcome: 'published' | 'rejected' | undefined;
      const count = (as: 'published' | 'rejected') => {
        if (outcome === undefined) counts[as] += 1;
        outcome ??= as;
      };
      // Its publisher waits no longer.
      const timer = setTimeout(count, logTimeoutMs, 'rejected');
      try {
        const id = await log.append(channel, event, keep);
        count('published');
        return id;
      } catch (error) {
        count('rejected');
        throw error;
      } finally {
        clearTimeout(timer);
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
      ...countNames.map((name) =>
        metric(
          { name: `events_${name}_total`, help: counters[name], type: 'counter', aggregator: 'sum' },
          (counts) => counts[name],
        ),
      ),
      metric(
        { name: 'events_subscribers', help: 'Subscribers.', type: 'gauge', aggregator: 'sum' },
        ({ subscribers }) => subscribers.size,
      ),
      metric({ name: 'events_lag_seconds', help: lagHelp, type: 'gauge', aggregator: 'max' }, lagSeconds),
    ],
  };
}
