// Loads prom-client.
export { counter, type MetricFamily, gauge, type MetricsSnapshot, type MetricSample } from './family.ts';
export { Latency, latencyFamily } from './latency.ts';
export { metrics } from './metrics.ts';
export { type Metrics, type MetricsOptions, type MetricsSources, openMetrics } from './openMetrics.ts';
