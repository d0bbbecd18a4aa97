import type { serve } from 'trpc-gateway/uws';

/** A server adapter of the gateway, or an object with the same `serve` function. */
export interface Adapter {
  /** The adapter's name in logs and metrics. */
  readonly server: string;
  readonly serve: typeof serve;
}

/** The names of the gateway's servers; `auto` chooses one. */
export type ServerName = 'auto' | 'uws' | 'node' | 'bun';

/**
 * Loads a server adapter of the gateway. `auto` loads Bun's on Bun. Elsewhere it loads uWebSockets.js if it has a binary for
 * this Node version and platform, and node:http otherwise.
 * @throws {Error} with code `no-binary` if `server` is `uws` and there is no binary
 */
export async function loadAdapter(server: ServerName): Promise<Adapter> {
  if (server === 'bun' || (server === 'auto' && 'bun' in process.versions)) {
    return { server: 'bun', serve: (await import('trpc-gateway/bun')).serve };
  }
  if (server !== 'node') {
    try {
      return { server: 'uws', serve: (await import('trpc-gateway/uws')).serve };
    } catch (error) {
      if (server === 'uws' || !isNoBinary(error)) throw error;
    }
  }
  return { server: 'node', serve: (await import('trpc-gateway/node')).serve };
}

const isNoBinary = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'no-binary';
