export { type Adapter, loadAdapter } from './adapter.ts';
export type { Checks } from './health/healthRoutes.ts';
export type { AdminOptions, ListenerAddress, Pages, RunOptions, StartContext, Started } from './options.ts';
export type { MetricsPart, ProcessMetrics } from './metrics/metricsPart.ts';
export type { LogPart, OpenedLog, ServiceLog, TelemetryPart } from './parts.ts';
export { run } from './run.ts';
export { type RunningService, startService } from './service.ts';
