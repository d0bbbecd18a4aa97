import type { serve } from '@petstore/gateway/node';
import { type Configuration, ConfigurationError } from './configuration.ts';

/** An adapter of the gateway. */
export interface Adapter {
  /** Its value of `SERVER`, as logs and metrics have it. */
  readonly server: 'uws' | 'node';
  readonly serve: typeof serve;
}

/** What people call them. */
export const serverNames: Readonly<Record<Adapter['server'], string>> = {
  uws: 'uWebSockets.js',
  node: 'node:http',
};

/**
 * Loads the adapter that `SERVER` names. `auto` is uWebSockets.js where it has a binary for this Node and system, else
 * node:http.
 * @throws {ConfigurationError} for `uws` where there is no binary
 */
export async function loadAdapter({ SERVER }: Pick<Configuration, 'SERVER'>): Promise<Adapter> {
  if (SERVER !== 'node') {
    try {
      return { server: 'uws', serve: (await import('@petstore/gateway/uws')).serve };
    } catch (error) {
      if (!isNoBinary(error)) throw error;
      if (SERVER === 'uws') {
        const message = `SERVER is "uws": unset it to serve on node:http. ${error.message}`;
        throw new ConfigurationError(message, { cause: error });
      }
    }
  }
  return { server: 'node', serve: (await import('@petstore/gateway/node')).serve };
}

const isNoBinary = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'no-binary';
