import type { RequestRecord, Telemetry } from 'trpc-gateway';

// The interfaces of the optional parts. Each part is a separate import, and `run` loads none of them.

type LogLine = (fields: unknown, message?: string) => void;

/** A logger with pino's signatures: fields or an error first, then the message. */
export interface ServiceLog {
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
  readonly fatal: LogLine;
}

/** A completed request. */
export interface LoggedRequest extends RequestRecord {
  /** Why `/readyz` answered 503. */
  readonly reason?: string | undefined;
}

export interface OpenedLog {
  readonly log: ServiceLog;
  /** Logs requests; `end` writes the pending summaries. `onResponse` may be asynchronous, and its errors are ignored. */
  readonly requests?:
    | { readonly onResponse: (record: LoggedRequest) => unknown; readonly end: () => void }
    | undefined;
  /** Flushes pending lines. Nothing may be logged afterwards. */
  readonly end: () => Promise<void>;
}

/** The log of a service, such as `log()` of `trpc-gateway-runtime/log`. */
export interface LogPart {
  /**
   * Opens the log of this process.
   * @param isShared true if other processes write to the same stdout
   * @param fields returns additional fields of each line; called when the line is logged
   */
  open(options: { readonly isShared: boolean; readonly fields?: (() => object) | undefined }): OpenedLog;
}

/** Telemetry of the gateway, such as the result of `openTelemetry` of `trpc-gateway-runtime/opentelemetry`. */
export interface TelemetryPart extends Telemetry {
  /** Returns fields for log lines, such as the ids of the active trace. */
  readonly logFields: () => object;
}
