import { describe, expect, test } from 'vitest';
import { mongodbUri } from '@petstore/testing/mongodb';
import { faultTest } from './testing/faultTest.ts';

// The short form. The long one, with processes that are stopped and killed, is a command: `npm run test:faults`.
describe.skipIf(mongodbUri === undefined)('under load', () => {
  test('a database that is refused, frozen, slow and cut off costs no acknowledged animal, no long wait, and no restart', async () => {
    const { faults, acknowledged, cuts, failed } = await faultTest({ rounds: 5, faultMs: 1000 });
    expect(faults).toEqual([]);
    expect(acknowledged).toBeGreaterThan(100);
    expect(cuts).toBeGreaterThan(0);
    expect(Object.keys(failed).toSorted()).toEqual(['outcome-unknown', 'unavailable']);
  }, 60_000);
});
