import type { serve } from '@petstore/gateway/node';

/** What serves the gateway: an adapter of it, or a function that does the same. */
export interface Adapter {
  /** Its name in logs and metrics. */
  readonly server: string;
  readonly serve: typeof serve;
}

/**
 * Loads an adapter of the gateway. `auto` is uWebSockets.js where it has a binary for this Node and system, else node:http.
 * @throws {Error} with the code `no-binary`, for `uws` where there is no binary
 */
export async function loadAdapter(server: 'auto' | 'uws' | 'node'): Promise<Adapter> {
  if (server !== 'node') {
    try {
      return { server: 'uws', serve: (await import('@petstore/gateway/uws')).serve };
    } catch (error) {
      if (server === 'uws' || !isNoBinary(error)) throw error;
    }
  }
  return { server: 'node', serve: (await import('@petstore/gateway/node')).serve };
}

const isNoBinary = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'no-binary';
