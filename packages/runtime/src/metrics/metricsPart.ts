import type { HttpResponse } from 'trpc-gateway';
import type { MetricsSnapshot } from './family.ts';
import type { Metrics } from './openMetrics.ts';

/** Handler of `/metrics` in the Prometheus text format. */
export type MetricsPage = () => Promise<HttpResponse>;

export interface ProcessMetrics {
  /** The number of the process. Numbers are never reused while the service runs. */
  readonly process: number;
  readonly metrics: MetricsSnapshot;
}

/** The numbers of workers of a service that has several. */
export interface WorkerCounts {
  /** How many there should be. */
  readonly count: number;
  /** Returns how many serve and have responded to the supervisor within the last 10 s. */
  readonly responding: () => number;
}

/** The metrics of a service, such as `metrics()` of `trpc-gateway-runtime/metrics`. */
export interface MetricsPart {
  /** Starts collecting metrics of this process. */
  open(): Metrics;
  /** Creates an aggregate of the metrics of several processes. */
  aggregate(): {
    /** Removes a process that has ended. Its counters stay in the totals. */
    readonly remove: (process: number) => void;
    /**
     * @param readProcesses reads the metrics of every process; called on each scrape
     * @param workers the workers of a service that has several; their metrics are then exported too
     */
    readonly page: (
      readProcesses: () => Promise<readonly ProcessMetrics[]>,
      workers?: WorkerCounts,
    ) => MetricsPage;
  };
}
