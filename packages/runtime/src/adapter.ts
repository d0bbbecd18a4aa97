import type { serve } from 'trpc-gateway/uws';

/** A server adapter of the gateway, or an object with the same `serve` function. */
export interface Adapter {
  /** The adapter's name in logs and metrics. */
  readonly server: string;
  /** The version in the first log line, such as `@uwsjs/core 20.69.0`: the loaded package of uWebSockets.js. */
  readonly version?: string;
  /** Why uWebSockets.js was not chosen, in sentences that end with the fix. */
  readonly fallbackReason?: string;
  readonly serve: typeof serve;
}

/** The names of the gateway's servers. */
export type ServerName = 'uws' | 'node' | 'bun';

/** Bun's on Bun; elsewhere uWebSockets.js if a package with a binary for this Node version and platform is installed. */
const fastestFirst: readonly ServerName[] = ['bun', 'uws', 'node'];

/** Loads the first adapter that runs here. @throws {Error} `no-binary` if uWebSockets.js is last and fails */
export async function loadAdapter(
  servers: ServerName | readonly ServerName[] = fastestFirst,
): Promise<Adapter> {
  const [server, ...others] = typeof servers === 'string' ? [servers] : servers;
  const { bun } = process.versions;
  if (server === 'bun' && bun === undefined && others.length > 0) return loadAdapter(others);
  if (server === 'bun') {
    return { server, version: `Bun ${bun}`, serve: (await import('trpc-gateway/bun')).serve };
  }
  if (server !== 'uws') {
    return {
      server: 'node',
      version: `Node ${process.version}`,
      serve: (await import('trpc-gateway/node')).serve,
    };
  }
  try {
    const { serve, uwsVersion } = await import('trpc-gateway/uws');
    return { server, version: uwsVersion, serve };
  } catch (error) {
    if (others.length === 0 || !isNoBinary(error)) throw error;
    return { ...(await loadAdapter(others)), fallbackReason: error.reason };
  }
}

const isNoBinary = (error: unknown): error is Error & { readonly reason: string } =>
  error instanceof Error && 'code' in error && error.code === 'no-binary';
