import type { serve } from 'trpc-gateway/uws';

/** A server adapter of the gateway, or an object with the same `serve` function. */
export interface Adapter {
  /** The adapter's name in logs and metrics. */
  readonly server: string;
  /** The version in the first log line, such as `@uwsjs/core 20.69.0`: the loaded package of uWebSockets.js. */
  readonly version?: string;
  /** Why `auto` chose node:http, in sentences that end with the fix. */
  readonly fallbackReason?: string;
  readonly serve: typeof serve;
}

/** The names of the gateway's servers; `auto` chooses one. */
export type ServerName = 'auto' | 'uws' | 'node' | 'bun';

/**
 * Loads a server adapter of the gateway. `auto` loads Bun's on Bun. Elsewhere it loads uWebSockets.js if a package with a
 * binary for this Node version and platform is installed, and node:http otherwise.
 * @throws {Error} with code `no-binary` if `server` is `uws` and uWebSockets.js does not load
 */
export async function loadAdapter(server: ServerName): Promise<Adapter> {
  const { bun } = process.versions;
  if (server === 'bun' || (server === 'auto' && bun !== undefined)) {
    return {
      server: 'bun',
      version: `Bun ${bun}`,
      serve: (await import('trpc-gateway/bun')).serve,
    };
  }
  let fallbackReason: string | undefined;
  if (server !== 'node') {
    try {
      const { serve, uwsVersion } = await import('trpc-gateway/uws');
      return { server: 'uws', version: uwsVersion, serve };
    } catch (error) {
      if (server === 'uws' || !isNoBinary(error)) throw error;
      fallbackReason = error.reason;
    }
  }
  const { serve } = await import('trpc-gateway/node');
  return {
    server: 'node',
    version: `Node ${process.version}`,
    ...(fallbackReason !== undefined && { fallbackReason }),
    serve,
  };
}

const isNoBinary = (error: unknown): error is Error & { readonly reason: string } =>
  error instanceof Error && 'code' in error && error.code === 'no-binary';
