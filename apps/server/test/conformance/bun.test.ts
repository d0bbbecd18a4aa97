import { petStoreConformance } from './petStoreConformance.ts';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe } from 'vitest';

const runtimes = runtimesToTest('bun');

describe.runIf(runtimes.length > 0)('on trpc-gateway/bun', () => {
  for (const { title, executable } of runtimes) {
    // `SERVER=auto` is `bun` there.
    petStoreConformance(`the process on ${title}`, { runtime: executable });
  }
});
