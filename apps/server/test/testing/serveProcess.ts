import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Serve } from '../conformance/client.ts';
import { apiKey } from './newFolder.ts';
import { listening, run, type RunOptions } from './petStoreProcess.ts';

/** Starts processes on the embedded store for the conformance suite. */
export const serveProcess =
  (options: RunOptions = {}): Serve =>
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
    const env = { PORT: '0', DATA_DIR: folder, API_KEY: apiKey };
    const { origin, stop } = await listening(run({ ...options, env }));
    return {
      origin,
      apiKey,
      async close() {
        await stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  };
