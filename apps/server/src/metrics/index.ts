// Loaded when ADMIN_PORT is set: prom-client is nothing that every start should pay for.
export { adminListener, type AdminListener, type AdminListenerOptions } from './adminListener.ts';
export type { MetricsSnapshot } from './family.ts';
export { gatherMetrics } from './gatheredMetrics.ts';
export { metricsPage } from './metricsPage.ts';
export { type Metrics, type MetricsSources, metricsText, openMetrics } from './openMetrics.ts';
