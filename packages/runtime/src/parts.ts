import type { RequestRecord, HttpResponse, Telemetry } from '@petstore/gateway';
import type { MetricsSnapshot } from './metrics/family.ts';
import type { Metrics } from './metrics/openMetrics.ts';

// What `run` expects of the parts that are imported by themselves: it loads none of them.

type LogLine = (fields: unknown, message?: string) => void;

/** Where the process writes what happens, as pino does: fields or an error first, then a message. */
export interface ServiceLog {
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
  readonly fatal: LogLine;
}

export interface OpenedLog {
  readonly log: ServiceLog;
  /** Logs requests, and at the end the lines that are still due. */
  readonly requests?:
    | { readonly onResponse: (record: RequestRecord) => void; readonly end: () => void }
    | undefined;
  /** Writes out what is pending; nothing may be logged afterwards. */
  readonly end: () => Promise<void>;
}

/** A log, such as `log()` of `@petstore/runtime/log`. */
export interface LogPart {
  /**
   * @param isShared whether other processes write to the same stdout
   * @param fields makes further fields of a line, when it is logged
   */
  open(options: { readonly isShared: boolean; readonly fields?: (() => object) | undefined }): OpenedLog;
}

/** What observes the gateway, such as what `openTelemetry` of `@petstore/runtime/opentelemetry` resolves to. */
export interface TelemetryPart extends Telemetry {
  /** Makes fields of log lines, such as the ids of a trace. */
  readonly logFields: () => object;
}

/** `/metrics`, as Prometheus reads it. */
export type MetricsPage = () => Promise<HttpResponse>;

/** What a process has measured. */
export interface GatheredMetrics {
  /** A number that no other process of the service has, also not one that has ended. */
  readonly process: number;
  readonly metrics: MetricsSnapshot;
}

/** Metrics, such as `metrics()` of `@petstore/runtime/metrics`. */
export interface MetricsPart {
  /** Starts to measure this process. */
  open(): Metrics;
  /** Adds up what processes have measured. */
  gather(): {
    /** A process has ended: what it counted stays in the totals. */
    readonly gone: (process: number) => void;
    /** @param send asks every process, at each reading */
    readonly page: (send: () => Promise<readonly GatheredMetrics[]>) => MetricsPage;
  };
}
