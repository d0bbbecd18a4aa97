export { type Adapter, loadAdapter } from './adapter.ts';
export type { Checks } from './health/healthRoutes.ts';
export type { AdminOptions, ListenerAddress, Pages, RunOptions, StartContext, Started } from './options.ts';
export type { LogPart, MetricsPart, OpenedLog, ServiceLog, TelemetryPart, ProcessMetrics } from './parts.ts';
export { run } from './run.ts';
export { type RunningService, startService } from './service.ts';
