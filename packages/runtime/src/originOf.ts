import type { Listening } from 'trpc-gateway/serve';

/** Returns the origin of a listener (scheme, host and port) for clients on this machine. */
export function originOf({ host, port }: Pick<Listening, 'host' | 'port'>, scheme: 'http' | 'https'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
