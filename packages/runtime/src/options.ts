import type { RequestRecord, Gateway, HttpRequest, HttpResponse } from '@petstore/gateway';
import type { ServeOptions } from '@petstore/gateway/listen';
import type { Adapter } from './adapter.ts';
import type { Checks } from './health/healthRoutes.ts';
import type { Family } from './metrics/family.ts';
import type { LogPart, MetricsPart, ServiceLog, TelemetryPart } from './parts.ts';

/** What is served beside the router, by path, for GET and HEAD. */
export type Pages = Readonly<
  Record<`/${string}`, (request: HttpRequest) => HttpResponse | Promise<HttpResponse>>
>;

export interface RunOptions {
  /**
   * Makes the gateway. It runs once in each process that serves: open databases here, and not where the file is loaded,
   * which with workers the process that starts them does too.
   */
  readonly start: (context: StartContext) => Started | Promise<Started>;
  /**
   * What serves. `auto`: uWebSockets.js where it has a binary for this Node and system, else node:http. Default: `auto`.
   */
  readonly server?: 'auto' | 'uws' | 'node' | Adapter;
  /**
   * Where to listen, the TLS files, and the limits of connections. A certificate is read again when its files change, and
   * on SIGHUP. Default: any free port of 127.0.0.1.
   */
  readonly listen?: Omit<ServeOptions, 'reusePort'>;
  /** `log()` of `@petstore/runtime/log`. Default: start, stop and errors as plain text. */
  readonly log?: LogPart;
  /**
   * `openTelemetry` of `@petstore/runtime/opentelemetry`, called in each process that serves. Default: nothing is traced.
   */
  readonly telemetry?: () => Promise<TelemetryPart | undefined>;
  /** `docsPage()` of `@petstore/runtime/docs`. Default: no docs page. */
  readonly docs?: Pages;
  /**
   * A port for operators, without credentials: `/healthz`, `/readyz`, and with `metrics` (`metrics()` of
   * `@petstore/runtime/metrics`) `/metrics`. Default: none, and nothing is measured.
   */
  readonly admin?: AdminOptions;
  /**
   * How many processes serve on the port, on Linux alone; `auto`: one for each core, and one on other systems. Those that end are
   * replaced. Default: 1.
   */
  readonly workers?: number | 'auto';
  /**
   * Called before a worker is replaced. A sentence that says what it would not find, such as a data folder that was removed,
   * ends the service; `undefined` starts the worker. Default: every worker is replaced.
   */
  readonly missing?: () => string | undefined;
  /**
   * Changes the error of a start, such as to name the settings at fault.
   * @param at the listener that could not listen; `undefined` for other errors
   */
  readonly explain?: (error: unknown, at?: ListenerAddress) => unknown;
  /** Names of errors of which only the message is written to stderr. Of other errors that is the stack. */
  readonly expectedErrors?: readonly string[];
}

export interface AdminOptions {
  /** Default: 127.0.0.1. Anyone who reaches it can read the metrics. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  readonly metrics?: MetricsPart;
}

/** A listener of the service. */
export interface ListenerAddress {
  readonly listener: 'service' | 'admin';
  readonly host: string;
  readonly port: number;
}

export interface StartContext {
  /** Options for `createGateway`: the routes of health and docs, what feeds log and metrics, and the telemetry. */
  readonly options: {
    readonly routes: Pages;
    readonly onResponse?: (record: RequestRecord) => void;
    readonly telemetry?: TelemetryPart;
  };
  readonly log: ServiceLog;
  /** Whether this is the first process of the service: further workers start once it listens. */
  readonly isFirst: boolean;
  /** Aborts when the service begins to stop. */
  readonly signal: AbortSignal;
  /** Closes what was opened, in reverse order: after the last call was answered, and where the start fails. */
  readonly onClose: (close: (options: { readonly deadlineMs: number }) => unknown) => void;
  /** Stops this process, with code 1: it cannot serve any more. */
  readonly fail: (error: Error) => void;
}

export interface Started {
  readonly gateway: Gateway;
  /** What must hold for the service to be ready. Default: nothing. */
  readonly checks?: Checks;
  /** Metrics of the service itself, read at each scrape. */
  readonly metrics?: (() => readonly Family[] | Promise<readonly Family[]>) | undefined;
  /** Further fields of the log line `listening`. */
  readonly logged?: object;
  /** Called when the port is open, before the service says that it listens. */
  readonly onListening?: (origin: string) => unknown;
}
