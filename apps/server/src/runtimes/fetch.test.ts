import { fileURLToPath } from 'node:url';
import { petStoreConformance } from '@petstore/conformance';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe } from 'vitest';
import { serveProcess } from '../testing/serveProcess.ts';

/** The bundle of this run of the tests (`bundledProcess.ts`). */
const entry =
  process.env['PETSTORE_FETCH'] ?? fileURLToPath(new URL('../testing/fetchProcess.ts', import.meta.url));
const runtimes = runtimesToTest('node24', 'node26', 'bun');

describe.runIf(runtimes.length > 0)('by gateway.fetch', () => {
  for (const { title, executable } of runtimes) {
    // A Request of Node cannot be made with TRACE (Fetch Standard §2.2.1). Bun takes it.
    const unknownMethods = title === 'Bun' ? ['BREW'] : ['BREW', 'TRACE'];
    petStoreConformance(`the process on ${title}`, serveProcess({ runtime: executable, entry }), {
      unknownMethods,
    });
  }
});
