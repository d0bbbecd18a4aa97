import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from 'trpc-gateway';
import type { Listening } from 'trpc-gateway/listen';
import { type Adapter, loadAdapter } from './adapter.ts';
import { checkRunOptions, checkStarted } from './checkRunOptions.ts';
import { countByExecution } from './countByExecution.ts';
import { type Checks, notReadyReason, routesOf } from './health/healthRoutes.ts';
import type { MetricsSnapshot } from './metrics/family.ts';
import type { MetricsSources } from './metrics/openMetrics.ts';
import { notify } from './hooks.ts';
import { openAdmin } from './openAdmin.ts';
import type { RunOptions, StartContext } from './options.ts';
import { originOf } from './originOf.ts';
import { consoleLog } from './consoleLog.ts';
import { UnclosedStoreError } from './signals/endProcess.ts';
import { errorText } from './signals/errorText.ts';
import {
  drainDeadlineMs,
  stopDeadlineMs,
  type Stoppable,
  type StopOptions,
} from './signals/stopOnSignals.ts';
import { warnIfRoot } from './warnIfRoot.ts';

/** A service that runs in this process. */
export interface RunningService extends Stoppable {
  /** The origin for clients on this machine: scheme, host and port. */
  readonly origin: string;
  /** The name of the adapter. */
  readonly server: string;
  /** The version of the adapter's server. */
  readonly version: string | undefined;
  /** Reads the metrics; `undefined` if metrics are off. */
  readonly metrics?: () => Promise<MetricsSnapshot>;
  /** Resolves with the reason why the service is not ready, or `undefined` if it is ready. */
  readonly notReady: () => Promise<string | undefined>;
  readonly fatalError: Promise<Error>;
  /**
   * Stops gracefully: reports not ready, accepts no new connections, completes calls in flight, closes resources and flushes
   * the log.
   * @throws {UnclosedStoreError} if the resources are not closed within `stopDeadlineMs`
   */
  close(options?: StopOptions): Promise<void>;
}

/** The role of a worker process. */
export interface WorkerRole {
  /** The port that all workers share. */
  readonly port: number;
  readonly isFirst: boolean;
}

type Closer = Parameters<StartContext['onClose']>[0];

/**
 * Starts a service in this process without signal handlers, for tests and for programs that handle signals themselves. Other
 * programs use `run`.
 */
export async function startService(options: RunOptions, worker?: WorkerRole): Promise<RunningService> {
  checkRunOptions(options);
  const { admin, explain = (error) => error, expectedErrors } = options;
  const { server, version, serve } = await resolveAdapter(options);
  const telemetry = await options.telemetry?.();
  const openedLog = (options.log ?? consoleLog).open({
    isShared: worker !== undefined,
    fields: telemetry?.logFields,
  });
  const { log, requests } = openedLog;
  const processMetrics = admin?.metrics?.open();
  const { promise: fatalError, resolve: stopWithError } = Promise.withResolvers<Error>();
  const stopping = new AbortController();
  const closers: Closer[] = [];
  let checks: Checks = {};
  let listening: Listening | undefined;
  const notReady = () => notReadyReason({ checks, isDraining: () => stopping.signal.aborted });
  /** The reason of the latest response of `/readyz`. */
  let reason: string | undefined;
  const health = routesOf(async () => (reason = await notReady()));
  const logRequest = (requestRecord: RequestRecord) =>
    requests?.onResponse(
      requestRecord.status === 503 && requestRecord.path === '/readyz'
        ? { ...requestRecord, reason }
        : requestRecord,
    );
  const onResponse = callBoth(processMetrics?.onResponse, requests && logRequest);

  async function closeAll(deadlineMs: () => number): Promise<void> {
    for (const close of closers.toReversed()) await close({ deadlineMs: Math.max(deadlineMs(), 0) });
  }

  try {
    const started = await options.start({
      options: {
        routes: { ...health, ...options.docs },
        ...(onResponse && { onResponse }),
        ...(telemetry && { telemetry }),
      },
      log,
      isFirst: worker?.isFirst ?? true,
      signal: stopping.signal,
      onClose: (close) => void closers.push(close),
      stopWithError,
    });
    checkStarted(started);
    const { gateway } = started;
    checks = started.checks ?? {};
    if (worker?.isFirst === true && gateway.hasLocalIdempotencyKeys) {
      log.warn(
        'idempotency keys are in the memory of each worker, so a retry that reaches another worker runs again: pass createGateway a state, such as folderState() of trpc-gateway-runtime/state/folder',
      );
    }
    const { host = '127.0.0.1', port = 0, tls } = options.listen ?? {};
    const address = { listener: 'service', host, port: worker?.port ?? port } as const;
    const listen = { ...options.listen, port: address.port, reusePort: worker !== undefined };
    const service = await serve(gateway, listen).catch((error: unknown) => {
      throw explain(error, address);
    });
    listening = service;
    const stopReloads =
      tls &&
      (await import('./tls/certificateReload.ts')).reloadCertificates({
        files: tls,
        reload: service.reloadCertificate?.bind(service),
        log,
      });
    const origin = originOf(service, tls === undefined ? 'http' : 'https');
    const procedures = countByExecution(gateway);
    const sources: MetricsSources = {
      server,
      procedures,
      callsInFlight: gateway.callsInFlight,
      connections: () => service.connections(),
      rejectedTokens: gateway.rejectedTokens,
      families: started.metrics,
    };
    const snapshot = processMetrics && (() => processMetrics.snapshot(sources));
    // Workers cannot share the admin port: the supervisor serves their aggregated metrics.
    const adminListener =
      worker === undefined && admin !== undefined
        ? await openAdmin(
            admin,
            health,
            snapshot &&
              admin.metrics?.aggregate().page(async () => [{ process: 1, metrics: await snapshot() }]),
            options.explain,
          )
        : undefined;
    if (adminListener) closers.push(() => adminListener.close());
    await started.onListening?.(origin);
    if (worker === undefined) warnIfRoot(log);
    log.info(
      {
        origin,
        server,
        ...(version !== undefined && { version }),
        ...(adminListener && { admin: adminListener.origin }),
        ...started.startupLogFields,
        procedures,
      },
      worker === undefined ? 'listening' : 'worker listening',
    );
    return {
      origin,
      server,
      version,
      ...(snapshot && { metrics: snapshot }),
      notReady,
      fatalError,
      async close({ drainMs } = { drainMs: drainDeadlineMs }) {
        const deadline = performance.now() + stopDeadlineMs;
        stopping.abort();
        stopReloads?.();
        log.info('stopping');
        const cutOff = await service.close({ deadlineMs: drainMs });
        requests?.end();
        const closeError = await closeBefore(deadline, () => closeAll(() => deadline - performance.now()));
        if (closeError === undefined) log.info({ cutOff }, 'stopped');
        else log.error({ cutOff, err: closeError }, 'stopped, but the store did not close');
        await openedLog.end();
        if (closeError !== undefined) throw closeError;
      },
    };
  } catch (error) {
    const deadline = performance.now() + stopDeadlineMs - drainDeadlineMs;
    stopping.abort();
    await listening?.close({ deadlineMs: 0 });
    const closeError = await closeBefore(deadline, () => closeAll(() => deadline - performance.now()));
    // An UnclosedStoreError ends the process by SIGKILL.
    if (closeError !== undefined)
      throw new UnclosedStoreError(errorText(error, expectedErrors), { cause: error });
    throw error;
  }

  /** @returns the error if `close` failed or missed the deadline; `undefined` if it completed */
  async function closeBefore(
    deadline: number,
    close: () => Promise<void>,
  ): Promise<UnclosedStoreError | undefined> {
    const toCloseError = (why: string, cause?: unknown) =>
      new UnclosedStoreError(`The store did not close: ${why}`, { cause });
    const timedOut = new AbortController();
    try {
      return await Promise.race([
        close().then(() => undefined),
        // 250 ms after the store's own deadline: its error is more specific.
        sleep(deadline - performance.now() + 250, undefined, { signal: timedOut.signal }).then(() =>
          toCloseError('it took too long.'),
        ),
      ]);
    } catch (error) {
      return toCloseError(errorText(error, expectedErrors), error);
    } finally {
      timedOut.abort();
    }
  }
}

async function resolveAdapter({ server = 'auto', explain = (error) => error }: RunOptions): Promise<Adapter> {
  if (typeof server === 'object') return server;
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
    notify(one, requestRecord);
    return other(requestRecord);
  };
}
