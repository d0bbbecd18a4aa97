import type { serve } from 'trpc-gateway/uws';

/** A server adapter of the gateway, or an object with the same `serve` function. */
export interface Adapter {
  /** The adapter's name in logs and metrics. */
  readonly server: string;
  readonly serve: typeof serve;
}

/**
 * Loads a server adapter of the gateway. `auto` loads uWebSockets.js if it has a binary for this Node version and platform,
 * and node:http otherwise.
 * @throws {Error} with code `no-binary` if `server` is `uws` and there is no binary
 */
export async function loadAdapter(server: 'auto' | 'uws' | 'node'): Promise<Adapter> {
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
