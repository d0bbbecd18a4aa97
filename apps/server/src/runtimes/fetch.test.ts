import { fileURLToPath } from 'node:url';
import { petStoreConformance } from '@petstore/conformance';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe } from 'vitest';
import { serveProcess } from '../testing/serveProcess.ts';

/** The bundle of the current test run (`bundledProcess.ts`). */
const entry =
  process.env['PETSTORE_FETCH'] ?? fileURLToPath(new URL('../testing/fetchProcess.ts', import.meta.url));
// Bun alone: packages/gateway/test runs over gateway.fetch on Node.
const runtimes = runtimesToTest('bun');

describe.runIf(runtimes.length > 0)('by gateway.fetch', () => {
  for (const { title, executable } of runtimes) {
    petStoreConformance(`the process on ${title}`, serveProcess({ runtime: executable, entry }));
  }
});
