import { petStoreConformance } from '../conformance/petStoreConformance.ts';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe } from 'vitest';
import { serveProcess } from '../testing/serveProcess.ts';

// The newest Node. packages/gateway/test runs over node:http on Node 22, and `.ci/run` runs the adapter's own tests and
// `npm start` on every Node.
const runtimes = runtimesToTest('node26');

describe.runIf(runtimes.length > 0)('on node:http', () => {
  for (const { title, executable } of runtimes) {
    const serve = serveProcess({ runtime: executable, env: { SERVER: 'node' } });
    petStoreConformance(`the process on ${title}`, serve);
  }
});
