import type { Configuration } from './configuration.ts';
import type { AdminListener, AdminListenerOptions, Metrics, MetricsSources } from './metrics/index.ts';
import type { ToldMetrics } from './workers.ts';

/** What measures a process that serves, and shows it where it serves alone. */
export interface Admin extends Metrics {
  /**
   * Opens the admin listener.
   * @param pages what it shows besides `/metrics`
   */
  listen(pages: AdminListenerOptions['pages'], sources: MetricsSources): Promise<AdminListener>;
}

/** @returns `undefined` where no `ADMIN_PORT` is set: then nothing is loaded, and nothing measured */
export async function openAdmin({
  ADMIN_HOST,
  ADMIN_PORT,
}: Pick<Configuration, 'ADMIN_HOST' | 'ADMIN_PORT'>): Promise<Admin | undefined> {
  if (ADMIN_PORT === undefined) return undefined;
  const { adminListener, metricsPage, metricsText, openMetrics } = await import('./metrics/index.ts');
  const metrics = openMetrics();
  return {
    ...metrics,
    listen(pages, sources) {
      const page = metricsPage(async () => metricsText([await metrics.snapshot(sources)]));
      return adminListener({ host: ADMIN_HOST, port: ADMIN_PORT, pages: { ...pages, '/metrics': page } });
    },
  };
}

/** Shows what several processes have counted, in one. */
export interface GatheringAdmin {
  /** Keeps what a process that has ended had counted. */
  readonly gone: (process: number) => void;
  /**
   * Opens the admin listener.
   * @param ask asks every process, at each reading
   * @param pages what it shows besides `/metrics`
   */
  listen(
    pages: AdminListenerOptions['pages'],
    ask: () => Promise<readonly ToldMetrics[]>,
  ): Promise<AdminListener>;
}

/** @returns `undefined` where no `ADMIN_PORT` is set */
export async function openGatheringAdmin({
  ADMIN_HOST,
  ADMIN_PORT,
}: Pick<Configuration, 'ADMIN_HOST' | 'ADMIN_PORT'>): Promise<GatheringAdmin | undefined> {
  if (ADMIN_PORT === undefined) return undefined;
  const { adminListener, gatherMetrics, metricsPage } = await import('./metrics/index.ts');
  const gathered = gatherMetrics();
  return {
    gone: gathered.gone,
    listen(pages, ask) {
      const page = metricsPage(async () => {
        for (const { process, metrics } of await ask()) gathered.told(process, metrics);
        return gathered.text();
      });
      return adminListener({ host: ADMIN_HOST, port: ADMIN_PORT, pages: { ...pages, '/metrics': page } });
    },
  };
}
