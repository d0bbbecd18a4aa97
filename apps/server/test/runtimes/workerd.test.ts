import { fileURLToPath } from 'node:url';
import { petStoreConformance } from '../conformance/petStoreConformance.ts';
import type { Serve } from '../conformance/served.ts';
import { startFetchProgram } from '@petstore/testing/fetchProgram';
import { type NamedRuntime, runtimesToTest } from '@petstore/testing/runtimes';
import { describe } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';

const entry = fileURLToPath(new URL('../testing/worker.ts', import.meta.url));

const serveWorker =
  (runtime: NamedRuntime): Serve =>
  async ({ maxBodySize, publicUrl } = {}) => {
    const bindings = {
      API_KEY: apiKey,
      ...(maxBodySize !== undefined && { MAX_BODY_BYTES: String(maxBodySize) }),
      ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }),
    };
    // The pet store's hashes are those of node:crypto.
    const program = await startFetchProgram(runtime, entry, { bindings, usesNode: true });
    return { origin: program.origin, apiKey, close: () => program.close() };
  };

const runtimes = runtimesToTest('workerd');

describe.runIf(runtimes.length > 0)('by gateway.fetch, on a store in memory', () => {
  for (const runtime of runtimes)
    petStoreConformance(`the worker on ${runtime.title}`, serveWorker(runtime), { keepsAnimals: false });
});
