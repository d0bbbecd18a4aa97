import { Registry } from 'prom-client';
import type { MetricsPart } from '../parts.ts';
import { aggregateMetrics } from './aggregateMetrics.ts';
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
      page: (readProcesses) => async () => {
        for (const { process, metrics: snapshot } of await readProcesses())
          aggregated.update(process, snapshot);
        return {
          status: 200,
          headers: [['content-type', Registry.PROMETHEUS_CONTENT_TYPE]],
          body: await aggregated.text(),
        };
      },
    };
  },
});
