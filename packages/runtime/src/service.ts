import type { Gateway, RequestRecord } from 'trpc-gateway';
import type { Listening } from 'trpc-gateway/serve';
import { type Adapter, loadAdapter } from './adapter.ts';
import { checkRunOptions, checkStarted } from './checkRunOptions.ts';
import { type Checks, notReadyReason, routesOf } from './health/healthRoutes.ts';
import type { MetricsSnapshot } from './metrics/family.ts';
import type { Metrics, MetricsSources } from './metrics/openMetrics.ts';
import { openAdmin, originOf } from './openAdmin.ts';
import type { RunOptions, Started } from './options.ts';
import type { LoggedRequest, OpenedLog, TelemetryPart } from './parts.ts';
import { createResources } from './resources.ts';
import { consoleLog, logListening } from './consoleLog.ts';
import { errorText, UnclosedStoreError } from './signals/endProcess.ts';
import {
  drainDeadlineMs,
  hangupIgnored,
  stopDeadlineMs,
  type Stoppable,
  type StopOptions,
} from './signals/stopOnSignals.ts';

/** A service that runs in this process. */
export interface RunningService extends Stoppable {
  /** The origin for clients on this machine: scheme, host and port. */
  readonly origin: string;
  /** The name of the adapter. */
  readonly server: string;
  /** The version of the adapter's server. */
  readonly version: string | undefined;
  readonly fallbackReason: string | undefined;
  /** Reads the metrics; `undefined` if metrics are off. */
  readonly metrics?: () => Promise<MetricsSnapshot>;
  /** Resolves with the reason why the service is not ready, or `undefined` if it is ready. */
  readonly notReady: () => Promise<string | undefined>;
  readonly fatalError: Promise<Error>;
  /**
   * Stops gracefully: reports not ready, accepts no connections, completes calls, closes resources, flushes the log.
   * @throws {UnclosedStoreError} if the resources are not closed within `stopDeadlineMs`
   */
  close(options?: StopOptions): Promise<void>;
}

export interface WorkerRole {
  /** The port that all workers share. */
  readonly port: number;
  readonly isFirst: boolean;
}

/** Starts a service without signal handlers, for tests and programs that have their own. Others use `run`. */
export async function startService(options: RunOptions, worker?: WorkerRole): Promise<RunningService> {
  checkRunOptions(options);
  const adapter = await resolveAdapter(options);
  const telemetry = await options.telemetry?.();
  const service = new Service({ options, worker, adapter, telemetry });
  try {
    return await service.start();
  } catch (error) {
    return await service.abort(error);
  }
}

interface ServiceParts {
  readonly options: RunOptions;
  /** `undefined` if the service runs in one process. */
  readonly worker: WorkerRole | undefined;
  readonly adapter: Adapter;
  readonly telemetry: TelemetryPart | undefined;
}

class Service {
  readonly #options: RunOptions;
  readonly #worker: WorkerRole | undefined;
  readonly #adapter: Adapter;
  readonly #telemetry: TelemetryPart | undefined;
  readonly #openedLog: OpenedLog;
  readonly #processMetrics: Metrics | undefined;
  readonly #resources: ReturnType<typeof createResources>;
  readonly #fatalError = Promise.withResolvers<Error>();
  readonly #stopping = new AbortController();
  readonly #health = routesOf(async () => (this.#notReadyReason = await this.#notReady()));
  #checks: Checks = {};
  #listening: Listening | undefined;
  #stopReloads: (() => void) | undefined;
  /** The reason of the latest response of `/readyz`. */
  #notReadyReason: string | undefined;

  constructor({ options, worker, adapter, telemetry }: ServiceParts) {
    this.#options = options;
    this.#worker = worker;
    this.#adapter = adapter;
    this.#telemetry = telemetry;
    this.#openedLog = (options.log ?? consoleLog).open({
      isShared: worker !== undefined,
      fields: telemetry?.logFields,
    });
    this.#processMetrics = options.admin?.metrics?.open();
    this.#resources = createResources(options.expectedErrors);
  }

  async start(): Promise<RunningService> {
    const started = await this.#startGateway();
    const service = await this.#listen(started.gateway);
    const { server, version, fallbackReason } = this.#adapter;
    const { log } = this.#openedLog;
    const origin = originOf(service, this.#options.listen?.tls === undefined ? 'http' : 'https');
    const procedures = { compiled: 0, trpc: 0 };
    for (const { execution } of started.gateway.procedures) procedures[execution] += 1;
    const snapshot = this.#snapshotOf({
      server,
      procedures,
      callsInFlight: started.gateway.callsInFlight,
      connections: () => service.connections(),
      rejectedTokens: started.gateway.rejectedTokens,
      families: started.metrics,
    });
    const adminOrigin = await this.#openAdmin(snapshot);
    await started.onListening?.(origin);
    const listening = {
      origin,
      server,
      version,
      admin: adminOrigin,
      ...started.startupLogFields,
      procedures,
    };
    // The supervisor logs where its workers listen.
    if (this.#worker !== undefined) log.info(listening, 'worker listening');
    else logListening(log, { ...listening, fallbackReason }, this.#options.log !== undefined);
    return {
      origin,
      server,
      version,
      fallbackReason,
      ...(snapshot && { metrics: snapshot }),
      notReady: () => this.#notReady(),
      fatalError: this.#fatalError.promise,
      // With TLS, `reloadCertificates` listens.
      ...(this.#options.listen?.tls === undefined && { onHangup: () => log.info(hangupIgnored) }),
      close: ({ drainMs } = { drainMs: drainDeadlineMs }) => this.#close(service, drainMs),
    };
  }

  /**
   * Closes what a failed start has opened.
   * @throws the error of the start; an `UnclosedStoreError`, which ends the process by SIGKILL, if a resource did not close
   */
  async abort(error: unknown): Promise<never> {
    const deadline = performance.now() + stopDeadlineMs - drainDeadlineMs;
    this.#stopping.abort();
    this.#stopReloads?.();
    await this.#listening?.close({ timeoutMs: 0 });
    const closeError = await this.#resources.closeBefore(deadline);
    this.#openedLog.requests?.end();
    await this.#openedLog.end();
    if (closeError === undefined) throw error;
    throw new UnclosedStoreError(errorText(error, this.#options.expectedErrors), { cause: error });
  }

  async #startGateway(): Promise<Started> {
    const { log, requests } = this.#openedLog;
    const onResponse = callBoth(
      this.#processMetrics?.onResponse,
      requests && ((requestRecord) => requests.onResponse(this.#toLogged(requestRecord))),
    );
    const started = await this.#options.start({
      options: {
        routes: { ...this.#health, ...this.#options.docs },
        ...(onResponse && { onResponse }),
        ...(this.#telemetry && { telemetry: this.#telemetry }),
      },
      log,
      isFirst: this.#worker?.isFirst ?? true,
      signal: this.#stopping.signal,
      onClose: (close) => this.#resources.add(close),
      stopWithError: this.#fatalError.resolve,
    });
    checkStarted(started);
    this.#checks = started.checks ?? {};
    if (this.#worker?.isFirst === true && started.gateway.hasLocalIdempotencyKeys) {
      log.warn(
        'idempotency keys are in the memory of each worker, so a retry that reaches another worker runs again: pass createGateway a state, such as folderState() of trpc-gateway-shared/state/folder',
      );
    }
    return started;
  }

  async #listen(gateway: Gateway): Promise<Listening> {
    const { explain = (error) => error, listen = {} } = this.#options;
    const { host = '127.0.0.1', tls } = listen;
    const { serve } = this.#adapter;
    const port = this.#worker?.port ?? listen.port ?? 0;
    const reusePort = this.#worker !== undefined;
    const service = await serve(gateway, { ...listen, port, reusePort }).catch((error: unknown) => {
      throw explain(error, { listener: 'service', host, port });
    });
    this.#listening = service;
    if (tls) {
      const { reloadCertificates } = await import('./tls/certificateReload.ts');
      this.#stopReloads = reloadCertificates({
        files: tls,
        reload: service.reloadCertificate?.bind(service),
        log: this.#openedLog.log,
      });
    }
    return service;
  }

  /** Returns the function that reads the metrics; `undefined` if metrics are off. */
  #snapshotOf(sources: MetricsSources): RunningService['metrics'] {
    const metrics = this.#processMetrics;
    return metrics && (() => metrics.snapshot(sources));
  }

  /** @returns the origin of the admin port; `undefined` if there is none */
  async #openAdmin(snapshot: RunningService['metrics']): Promise<string | undefined> {
    const { admin, explain } = this.#options;
    // Workers cannot share the admin port: the supervisor serves their aggregated metrics.
    if (this.#worker !== undefined || admin === undefined) return undefined;
    const page =
      snapshot && admin.metrics?.aggregate().page(async () => [{ process: 1, metrics: await snapshot() }]);
    const adminListener = await openAdmin(admin, this.#health, page, explain);
    this.#resources.add(() => adminListener.close());
    return adminListener.origin;
  }

  async #close(service: Listening, drainMs: number): Promise<void> {
    const deadline = performance.now() + stopDeadlineMs;
    const { log, requests } = this.#openedLog;
    this.#stopping.abort();
    this.#stopReloads?.();
    log.info('stopping');
    const cutOff = await service.close({ timeoutMs: drainMs });
    requests?.end();
    const closeError = await this.#resources.closeBefore(deadline);
    if (closeError === undefined) log.info({ cutOff }, 'stopped');
    else log.error({ cutOff, err: closeError }, 'stopped, but the store did not close');
    await this.#openedLog.end();
    if (closeError !== undefined) throw closeError;
  }

  #notReady(): Promise<string | undefined> {
    return notReadyReason({ checks: this.#checks, isDraining: () => this.#stopping.signal.aborted });
  }

  /** Adds to the record of a failed `/readyz` why it failed. */
  #toLogged(requestRecord: RequestRecord): LoggedRequest {
    return requestRecord.status === 503 && requestRecord.path === '/readyz'
      ? { ...requestRecord, reason: this.#notReadyReason }
      : requestRecord;
  }
}

async function resolveAdapter({ server, explain = (error) => error }: RunOptions): Promise<Adapter> {
  if (typeof server === 'object' && 'serve' in server) return server;
  try {
    return await loadAdapter(server);
  } catch (error) {
    throw explain(error);
  }
}

type Listener = (record: RequestRecord) => unknown;

function callBoth(one: Listener | undefined, other: Listener | undefined): Listener | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (requestRecord) => {
    try {
      const returned = one(requestRecord);
      if (returned instanceof Promise) returned.catch(() => {});
    } catch {
      // The log gets the record nevertheless.
    }
    return other(requestRecord);
  };
}
