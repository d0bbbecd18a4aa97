import { describe, expect, test } from 'vitest';
import { mongodbUri } from '@petstore/testing/mongodb';
import { faultTest } from './testing/faultTest.ts';

// A short run. `npm run test:faults -w @petstore/core` runs longer, and stops and kills the server too.
describe.skipIf(mongodbUri === undefined)('a store under load', () => {
  test('connection faults lose no acknowledged animal, exceed no timeout and need no restart', async () => {
    const { violations, acknowledged, cuts, failures } = await faultTest({ rounds: 5, faultMs: 1000 });
    expect(violations).toEqual([]);
    expect(acknowledged).toBeGreaterThan(100);
    expect(cuts).toBeGreaterThan(0);
    expect(Object.keys(failures).toSorted()).toEqual(['outcome-unknown', 'unavailable']);
  }, 60_000);
});
