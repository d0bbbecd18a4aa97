import { fileURLToPath } from 'node:url';
import { adapterOfRun } from '../adapters.ts';
import { type Pinned, startPinned } from './pinned.ts';
import type { Target } from './target.ts';

const file = fileURLToPath(new URL('target.ts', import.meta.url));

/** A server under load: it has `pets` pets, accepts `apiKey` (requests.ts), and serves `/healthz`. */
export interface UnderLoad extends Pinned {
  readonly port: number;
}

/** Starts a server on core 0. */
export type StartUnderLoad = () => Promise<UnderLoad>;

/** The gateway with a router in memory. `apps/server` runs the same measurements on the pet store's process. */
export const startPetsUnderLoad: StartUnderLoad = async () => {
  const server = startPinned(0, file, { ADAPTER: adapterOfRun() });
  const { port } = await server.call<Target>({});
  return { ...server, port };
};
