import { AggregatorRegistry } from 'prom-client';
import type { MetricFamily, MetricsSnapshot } from './family.ts';
import { metricsText } from './openMetrics.ts';

/** Metrics of several processes, aggregated in a process that outlives them. Process numbers are never reused. */
export interface AggregatedMetrics {
  /**
   * Stores the latest snapshot of a process. It stays in use while the process does not respond. Snapshots that arrive after
   * `remove` are ignored.
   */
  readonly update: (process: number, snapshot: MetricsSnapshot) => void;
  /** Removes a process that has ended: its counters stay in the totals, so that none decreases; its gauges are dropped. */
  readonly remove: (process: number) => void;
  /**
   * Formats the aggregated metrics in the Prometheus text format.
   * @param own metrics of the process that aggregates
   */
  readonly text: (own?: MetricsSnapshot) => Promise<string>;
}

/** Creates an empty aggregate. */
export function aggregateMetrics(): AggregatedMetrics {
  const last = new Map<number, MetricsSnapshot>();
  const ended = new Set<number>();
  /** The counters of all processes that have ended. */
  let totals: Promise<MetricsSnapshot> = Promise.resolve([]);

  return {
    update(process, snapshot) {
      if (!ended.has(process)) last.set(process, snapshot);
    },
    remove(process) {
      ended.add(process);
      const counted = (last.get(process) ?? []).filter(({ type }) => type !== 'gauge');
      last.delete(process);
      totals = sumOf(totals, counted);
    },
    text: async (own = []) => metricsText([await totals, ...last.values(), own]),
  };
}

async function sumOf(totals: Promise<MetricsSnapshot>, counted: MetricsSnapshot): Promise<MetricsSnapshot> {
  const sum = AggregatorRegistry.aggregate([[...(await totals)], [...counted]]);
  return (await sum.getMetricsAsJSON()) as unknown as MetricFamily[]; // The types of prom-client lack a histogram's names.
}
