import { fileURLToPath } from 'node:url';
import { type Adapter, adapterOfRun } from '../adapters.ts';
import { type Pinned, startPinned } from './pinned.ts';
import type { Target } from './target.ts';

const file = fileURLToPath(new URL('target.ts', import.meta.url));

/** A server for load tests. It stores `pets` pets, accepts `apiKey` (requests.ts) and serves `/healthz`. */
export interface UnderLoad extends Pinned {
  readonly port: number;
}

/** Starts a server on core 0. */
export type StartUnderLoad = () => Promise<UnderLoad>;

/**
 * Starts the gateway with an in-memory router. `apps/server` runs the same measurements on the pet store's process.
 * @param executable Node or Bun
 */
export async function startPetsUnderLoad(
  adapter: Adapter = adapterOfRun(),
  executable = process.execPath,
): Promise<UnderLoad> {
  const server = startPinned(0, file, { ADAPTER: adapter }, executable);
  const { port } = await server.call<Target>({});
  return { ...server, port };
}
