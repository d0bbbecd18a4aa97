import type { RequestRecord, Gateway, HttpRequest, HttpResponse } from 'trpc-gateway';
import type { ServeOptions } from 'trpc-gateway/serve';
import type { Adapter, ServerName } from './adapter.ts';
import type { Checks } from './health/healthRoutes.ts';
import type { MetricFamily } from './metrics/family.ts';
import type { MetricsPart } from './metrics/metricsPart.ts';
import type { LogPart, ServiceLog, TelemetryPart } from './parts.ts';

/** Handlers of GET and HEAD requests outside the router, by path. */
export type Pages = Readonly<
  Record<`/${string}`, (request: HttpRequest) => HttpResponse | Promise<HttpResponse>>
>;

export interface RunOptions {
  /** Creates the gateway, once per serving process. Open databases here: supervisors load the module too. */
  readonly start: (context: StartContext) => Started | Promise<Started>;
  /**
   * The server, or a list of which the first is used that can run here: `bun` needs Bun, and `uws` a binary of
   * uWebSockets.js for this Node version and platform. Default: `['bun', 'uws', 'node']`.
   */
  readonly server?: ServerName | readonly ServerName[] | Adapter;
  /**
   * Host and port, TLS files and connection limits. On node:http, the certificate is reloaded when its files change and on
   * SIGHUP; on uWebSockets.js, a restart reads it.
   * Default: a free port on 127.0.0.1.
   */
  readonly listen?: Omit<ServeOptions, 'reusePort'>;
  /** The log, such as `log()` of `trpc-gateway-runtime/log`. Default: start, stop and errors as plain text. */
  readonly log?: LogPart;
  /**
   * Creates the telemetry, such as `openTelemetry` of `trpc-gateway-runtime/opentelemetry`. `run` calls it in each process that
   * serves. Default: no tracing.
   */
  readonly telemetry?: () => Promise<TelemetryPart | undefined>;
  /** The docs page, such as `docsPage()` of `trpc-gateway-runtime/docs`. Default: none. */
  readonly docs?: Pages;
  /**
   * A separate port for operators, without authentication: `/healthz`, `/readyz`, and `/metrics` if `metrics` is set.
   * Default: no admin port and no metrics.
   */
  readonly admin?: AdminOptions;
  /**
   * Number of processes that share the port; more than one needs Linux. `auto` starts one per core on Linux and one
   * elsewhere. A worker that exits is replaced. Default: 1.
   */
  readonly workers?: number | 'auto';
  /**
   * Called before a worker is replaced. Return why a new one cannot run, such as a removed data folder, to stop the service;
   * `undefined` starts the worker. It is synchronous; an error is logged, and the worker replaced. Default: all are replaced.
   */
  readonly preventRestart?: () => string | undefined;
  /**
   * Replaces an error of the start, for example to name the invalid settings.
   * @param at the listener that failed to listen; `undefined` for other errors
   */
  readonly explain?: (error: unknown, at?: ListenerAddress) => unknown;
  /** Names of errors that are printed to stderr as their message only. Other errors are printed with their stack. */
  readonly expectedErrors?: readonly string[];
}

export interface AdminOptions {
  /** Default: 127.0.0.1. Every client that can connect can read the metrics. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The metrics, such as `metrics()` of `trpc-gateway-runtime/metrics`. Default: none. */
  readonly metrics?: MetricsPart;
}

/** The address of one of the service's listeners. */
export interface ListenerAddress {
  readonly listener: 'service' | 'admin';
  readonly host: string;
  readonly port: number;
}

export interface StartContext {
  /** Options to spread into `createGateway`: health and docs routes, the hook for log and metrics, and the telemetry. */
  readonly options: {
    readonly routes: Pages;
    readonly onResponse?: (record: RequestRecord) => unknown;
    readonly telemetry?: TelemetryPart;
  };
  readonly log: ServiceLog;
  /** True in the first process of the service. The other workers start once it listens. */
  readonly isFirst: boolean;
  /** Aborts when the service starts to stop. */
  readonly signal: AbortSignal;
  /** Registers a closing function. They run in reverse order, after the last call or when the start fails. */
  readonly onClose: (close: (options: { readonly timeoutMs: number }) => unknown) => void;
  /** Stops this process with exit code 1. Call it when the process can no longer serve. */
  readonly stopWithError: (error: Error) => void;
}

export interface Started {
  readonly gateway: Gateway;
  /** Readiness checks. Default: none. */
  readonly checks?: Checks;
  /** Returns the service's own metrics. Called on each scrape. */
  readonly metrics?: (() => readonly MetricFamily[] | Promise<readonly MetricFamily[]>) | undefined;
  /** Additional fields of the log line `listening`. */
  readonly startupLogFields?: object;
  /** Called when the port is open, before `listening` is logged. */
  readonly onListening?: (origin: string) => unknown;
}
