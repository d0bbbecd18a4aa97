import { fileURLToPath } from 'node:url';
import { petStoreConformance } from '../conformance/petStoreConformance.ts';
import { denoOptions } from '@petstore/testing/fetchProgram';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe } from 'vitest';
import { serveProcess } from '../testing/serveProcess.ts';

/** The bundle of the current test run (`bundledProcess.ts`). */
const entry =
  process.env['PETSTORE_FETCH'] ?? fileURLToPath(new URL('../testing/fetchProcess.ts', import.meta.url));
// Not Node: packages/gateway/test runs over gateway.fetch there.
const runtimes = runtimesToTest('bun', 'deno');

describe.runIf(runtimes.length > 0)('by gateway.fetch', () => {
  for (const { name, title, executable } of runtimes) {
    const nodeArgs = name === 'deno' ? denoOptions : [];
    petStoreConformance(`the process on ${title}`, serveProcess({ runtime: executable, nodeArgs, entry }));
  }
});
