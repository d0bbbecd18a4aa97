import { AggregatorRegistry, Registry } from 'prom-client';
import { gauge, type MetricFamily, type MetricsSnapshot } from './family.ts';
import type { MetricsPart, WorkerCounts } from './metricsPart.ts';
import { type MetricsOptions, openMetrics } from './openMetrics.ts';

/** Serves `/metrics` (Prometheus) on the admin port: gateway, process, service; workers are aggregated. */
export const metrics = (options: MetricsOptions = {}): MetricsPart => ({
  open: () => openMetrics(options),
  aggregate() {
    /** The latest snapshot of each process, also while it does not respond. Their numbers are never reused. */
    const last = new Map<number, MetricsSnapshot>();
    const ended = new Set<number>();
    /** The counters of all processes that have ended. */
    let totals: Promise<MetricsSnapshot> = Promise.resolve([]);
    return {
      remove(process) {
        ended.add(process);
        // Counters must not decrease; gauges are dropped.
        const counted = (last.get(process) ?? []).filter(({ type }) => type !== 'gauge');
        last.delete(process);
        totals = sumOf(totals, counted);
      },
      page: (readProcesses, workers) => async () => {
        for (const { process, metrics: snapshot } of await readProcesses())
          if (!ended.has(process)) last.set(process, snapshot);
        const own = workers ? workerFamilies(options.prefix, workers) : [];
        return {
          status: 200,
          headers: [['content-type', Registry.PROMETHEUS_CONTENT_TYPE]],
          body: await AggregatorRegistry.aggregate([await totals, ...last.values(), own]).metrics(),
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

async function sumOf(totals: Promise<MetricsSnapshot>, counted: MetricsSnapshot): Promise<MetricsSnapshot> {
  const sum = AggregatorRegistry.aggregate([[...(await totals)], [...counted]]);
  return (await sum.getMetricsAsJSON()) as unknown as MetricFamily[]; // The types of prom-client lack a histogram's names.
}
