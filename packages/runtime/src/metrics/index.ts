// Loads prom-client.
export { counter, type MetricFamily, gauge, type MetricsSnapshot, type MetricSample } from './family.ts';
export { Histogram, histogramFamily } from './histogram.ts';
export { metrics } from './metrics.ts';
export { type Metrics, type MetricsOptions, type MetricsSources, openMetrics } from './openMetrics.ts';
