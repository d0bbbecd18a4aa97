import { Registry } from 'prom-client';
import type { MetricsPart } from '../parts.ts';
import { gatherMetrics } from './gatheredMetrics.ts';
import { type MetricsOptions, openMetrics } from './openMetrics.ts';

/**
 * Metrics for Prometheus, at `/metrics` of the admin port: of the gateway, of the process, and of the service itself. Those
 * of workers are added up.
 */
export const metrics = (options: MetricsOptions = {}): MetricsPart => ({
  open: () => openMetrics(options),
  gather() {
    const gathered = gatherMetrics();
    return {
      gone: gathered.gone,
      page: (send) => async () => {
        for (const { process, metrics: told } of await send()) gathered.told(process, told);
        return {
          status: 200,
          headers: [['content-type', Registry.PROMETHEUS_CONTENT_TYPE]],
          body: await gathered.text(),
        };
      },
    };
  },
});
