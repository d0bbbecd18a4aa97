import { Registry } from 'prom-client';
import { aggregateMetrics } from './aggregateMetrics.ts';
import { gauge } from './family.ts';
import type { MetricsPart, WorkerCounts } from './metricsPart.ts';
import { type MetricsOptions, openMetrics } from './openMetrics.ts';

/**
 * Serves Prometheus metrics at `/metrics` of the admin port: of the gateway, the process and the service. Metrics of workers
 * are aggregated.
 */
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
