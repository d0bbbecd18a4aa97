import { petStoreConformance } from '@petstore/conformance';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe } from 'vitest';
import { serveProcess } from '../testing/serveProcess.ts';

const runtimes = runtimesToTest('node24', 'node26');

describe.runIf(runtimes.length > 0)('on node:http', () => {
  for (const { title, executable } of runtimes) {
    const serve = serveProcess({ runtime: executable, env: { SERVER: 'node' } });
    petStoreConformance(`the process on ${title}`, serve, { unknownMethods: ['BREW'] });
  }
});
