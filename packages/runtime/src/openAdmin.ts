import type { healthRoutes } from './health/healthRoutes.ts';
import type { AdminOptions, RunOptions } from './options.ts';
import type { Listening } from 'trpc-gateway/serve';
import type { MetricsPage } from './metrics/metricsPart.ts';

/** Opens health routes and, if `metrics` is set, the metrics page. @throws the error, mapped by `explain` */
export async function openAdmin(
  { host = '127.0.0.1', port }: AdminOptions,
  health: ReturnType<typeof healthRoutes>,
  metrics: MetricsPage | undefined,
  explain: RunOptions['explain'],
) {
  const { adminListener } = await import('./admin/adminListener.ts');
  const pages = { ...health, ...(metrics && { '/metrics': metrics }) };
  try {
    const listener = await adminListener({ host, port, pages });
    return { origin: originOf({ host, port: listener.port }, 'http'), close: () => listener.close() };
  } catch (error) {
    throw explain === undefined ? error : explain(error, { listener: 'admin', host, port });
  }
}

/** Returns the origin of a listener (scheme, host and port) for clients on this machine. */
export function originOf({ host, port }: Pick<Listening, 'host' | 'port'>, scheme: 'http' | 'https'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
