import { fileURLToPath } from 'node:url';
import type { GeneratorMessage } from './generator.ts';
import type { Load, LoadResult } from './openLoop.ts';
import { startPinned } from './pinned.ts';

const file = fileURLToPath(new URL('generator.ts', import.meta.url));

export interface Generator {
  run(load: Load): Promise<LoadResult>;
  stop(): Promise<void>;
}

/** Starts a load generator with the given number of connections, on core 1. */
export async function startGenerator(port: number, connections: number, request: string): Promise<Generator> {
  const pinned = startPinned(1, file);
  await pinned.call<object>({ open: { port, connections, request } } satisfies GeneratorMessage);
  return {
    run: (load) => pinned.call<LoadResult>({ run: load } satisfies GeneratorMessage),
    stop: () => pinned.stop(),
  };
}
