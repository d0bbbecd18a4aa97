import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '@petstore/gateway';
import type { Listening } from '@petstore/gateway/listen';
import { type Adapter, loadAdapter } from './adapter.ts';
import { checkRunOptions, checkStarted } from './checkRunOptions.ts';
import { countByExecution } from './countByExecution.ts';
import { type Checks, failedCheck, healthRoutes } from './health/healthRoutes.ts';
import type { MetricsSnapshot } from './metrics/family.ts';
import type { MetricsSources } from './metrics/openMetrics.ts';
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

/** A process that serves. */
export interface RunningService extends Stoppable {
  /** Where it is reached from this machine: scheme, host and port. */
  readonly origin: string;
  /** The name of the adapter. */
  readonly server: string;
  /** What it has measured; `undefined` without metrics. */
  readonly metrics?: () => Promise<MetricsSnapshot>;
  /** The reason why it is not ready; `undefined` where it is. */
  readonly notReady: () => Promise<string | undefined>;
  readonly failed: Promise<Error>;
  /**
   * Stops in order: not ready, no new connections, calls in flight answered, what the service opened closed, log written
   * out.
   * @throws {UnclosedStoreError} where that was not closed within `stopDeadlineMs`
   */
  close(options?: StopOptions): Promise<void>;
}

/** What makes a process one of several. */
export interface WorkerRole {
  /** The port that all of them share. */
  readonly port: number;
  readonly isFirst: boolean;
}

type Closer = Parameters<StartContext['onClose']>[0];

/**
 * Starts a service in this process, without signals: for tests, and for programs that handle signals themselves. `run` is
 * for all others.
 */
export async function startService(options: RunOptions, worker?: WorkerRole): Promise<RunningService> {
  checkRunOptions(options);
  const { admin, explain = (error) => error, expectedErrors } = options;
  const { server, serve } = await adapterOf(options);
  const telemetry = await options.telemetry?.();
  const opened = (options.log ?? consoleLog).open({
    isShared: worker !== undefined,
    fields: telemetry?.logFields,
  });
  const { log, requests } = opened;
  const measured = admin?.metrics?.open();
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  const stopping = new AbortController();
  const closers: Closer[] = [];
  let checks: Checks = {};
  let listening: Listening | undefined;
  const health = healthRoutes({ checks: () => checks, isDraining: () => stopping.signal.aborted });
  const onResponse = bothOf(measured?.onResponse, requests?.onResponse);

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
      fail,
    });
    checkStarted(started);
    const { gateway } = started;
    checks = started.checks ?? {};
    if (worker?.isFirst === true && gateway.hasLocalIdempotencyKeys) {
      log.warn(
        'idempotency keys are in the memory of each worker: a repeat that reaches another one runs again. Give createGateway idempotency: { state }, such as folderState() of @petstore/runtime/state/folder',
      );
    }
    const { host = '127.0.0.1', port = 0, tls } = options.listen ?? {};
    const at = { listener: 'service', host, port: worker?.port ?? port } as const;
    const listen = { ...options.listen, port: at.port, reusePort: worker !== undefined };
    const service = await serve(gateway, listen).catch((error: unknown) => {
      throw explain(error, at);
    });
    listening = service;
    const endReloads =
      tls &&
      (await import('./tls/certificateReload.ts')).reloadCertificates({
        files: tls,
        reload: () => service.reloadCertificate(),
        log,
      });
    const origin = originOf(service, tls === undefined ? 'http' : 'https');
    const procedures = countByExecution(gateway);
    const sources: MetricsSources = {
      server,
      procedures,
      callsInFlight: gateway.callsInFlight,
      connections: () => service.connections(),
      refusedTokens: gateway.rejectedTokens,
      families: started.metrics,
    };
    const snapshot = measured && (() => measured.snapshot(sources));
    // One port cannot be every worker's: their parent shows what they tell it.
    const adminListener =
      worker === undefined && admin !== undefined
        ? await openAdmin(
            admin,
            health,
            snapshot && admin.metrics?.gather().page(async () => [{ process: 1, metrics: await snapshot() }]),
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
        ...(adminListener && { admin: adminListener.origin }),
        ...started.logged,
        procedures,
      },
      worker === undefined ? 'listening' : 'worker listening',
    );
    return {
      origin,
      server,
      ...(snapshot && { metrics: snapshot }),
      notReady: () => failedCheck(checks),
      failed,
      async close({ drainMs } = { drainMs: drainDeadlineMs }) {
        const until = performance.now() + stopDeadlineMs;
        stopping.abort();
        endReloads?.();
        log.info('stopping');
        const cutOff = await service.close({ deadlineMs: drainMs });
        requests?.end();
        const unclosed = await unlessInTime(until, () => closeAll(() => until - performance.now()));
        if (unclosed === undefined) log.info({ cutOff }, 'stopped');
        else log.error({ cutOff, err: unclosed }, 'stopped, but the store did not close');
        await opened.end();
        if (unclosed !== undefined) throw unclosed;
      },
    };
  } catch (error) {
    const until = performance.now() + stopDeadlineMs - drainDeadlineMs;
    stopping.abort();
    await listening?.close({ deadlineMs: 0 });
    const unclosed = await unlessInTime(until, () => closeAll(() => until - performance.now()));
    // It ends the process in another way.
    if (unclosed !== undefined)
      throw new UnclosedStoreError(errorText(error, expectedErrors), { cause: error });
    throw error;
  }

  /** @returns why it has not ended in time; `undefined` where it has */
  async function unlessInTime(
    until: number,
    close: () => Promise<void>,
  ): Promise<UnclosedStoreError | undefined> {
    const unclosed = (why: string, cause?: unknown) =>
      new UnclosedStoreError(`The store did not close: ${why}`, { cause });
    const timedOut = new AbortController();
    try {
      return await Promise.race([
        close().then(() => undefined),
        // Later than the store, which knows more about it.
        sleep(until - performance.now() + 250, undefined, { signal: timedOut.signal }).then(() =>
          unclosed('it took too long.'),
        ),
      ]);
    } catch (error) {
      return unclosed(errorText(error, expectedErrors), error);
    } finally {
      timedOut.abort();
    }
  }
}

async function adapterOf({ server = 'auto', explain = (error) => error }: RunOptions): Promise<Adapter> {
  if (typeof server === 'object') return server;
  try {
    return await loadAdapter(server);
  } catch (error) {
    throw explain(error);
  }
}

type Listener = (record: RequestRecord) => void;

function bothOf(one: Listener | undefined, other: Listener | undefined): Listener | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (requestRecord) => {
    one(requestRecord);
    other(requestRecord);
  };
}
