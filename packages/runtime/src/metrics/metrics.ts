import { AggregatorRegistry, Registry } from 'prom-client';
import { gauge, type MetricFamily, type MetricsSnapshot } from './family.ts';
import type { MetricsPart, WorkerCounts } from './metricsPart.ts';
import { type MetricsOptions, metricsText, openMetrics } from './openMetrics.ts';

/** Serves `/metrics` (Prometheus) on the admin port: gateway, process, service; workers are aggregated. */
export const metrics = (options: MetricsOptions = {}): MetricsPart => ({
  open: () => openMetrics(options),
  aggregate() {
    const aggregated = aggregateMetrics();
    return {
      remove: aggregated.remove,
      page: (readProcesses, workers) => async () => {
        for (const { process, metrics: snapshot } of await readProcesses())
          aggregated.update(process, snapshot);
        return {
          status: 200,
          headers: [['content-type', Registry.PROMETHEUS_CONTENT_TYPE]],
          body: await aggregated.text(workers && workerFamilies(options.prefix, workers)),
        };
      },
    };
  },
});

const workerFamilies = (prefix = 'gateway_', { count, responding }: WorkerCounts) => [
  gauge(`${prefix}workers`, 'Number of workers that the service is configured to have.', count),
  gauge(
    `${prefix}workers_responding`,
    'Number of workers that serve and have responded to their parent within the last 10 s.',
    responding(),
  ),
];

/** Aggregates metrics of several processes in a process that outlives them. Process numbers are never reused. */
export function aggregateMetrics() {
  const last = new Map<number, MetricsSnapshot>();
  const ended = new Set<number>();
  /** The counters of all processes that have ended. */
  let totals: Promise<MetricsSnapshot> = Promise.resolve([]);

  return {
    /** Stores a process's latest snapshot, for while it does not respond. Ignored after `remove`. */
    update: (process: number, snapshot: MetricsSnapshot): void => {
      if (!ended.has(process)) last.set(process, snapshot);
    },
    /** Removes a process that has ended: its counters stay in the totals, so that none decreases; its gauges are dropped. */
    remove: (process: number): void => {
      ended.add(process);
      const counted = (last.get(process) ?? []).filter(({ type }) => type !== 'gauge');
      last.delete(process);
      totals = sumOf(totals, counted);
    },
    /** Formats the metrics, and those of the process that aggregates, in the Prometheus text format. */
    text: async (own: MetricsSnapshot = []) => metricsText([await totals, ...last.values(), own]),
  };
}

async function sumOf(totals: Promise<MetricsSnapshot>, counted: MetricsSnapshot): Promise<MetricsSnapshot> {
  const sum = AggregatorRegistry.aggregate([[...(await totals)], [...counted]]);
  return (await sum.getMetricsAsJSON()) as unknown as MetricFamily[]; // The types of prom-client lack a histogram's names.
}
