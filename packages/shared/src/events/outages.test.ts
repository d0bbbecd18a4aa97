import { hasRedis } from '@petstore/testing/redis';
import { expect, it } from 'vitest';
import { outageTest } from './testing/outages/outageTest.ts';

it.skipIf(!hasRedis)(
  'subscribers that change workers get every event once and in order, or one resync, while connections to Redis are cut, workers and Redis are killed and replaced, and it is emptied',
  async () => {
    const { connections, outages, violations } = await outageTest({
      kind: 'log',
      events: 3000,
      channels: 4,
      subscribersPerChannel: 5,
      workersPerMachine: 2,
      isShort: true,
    });
    expect(violations).toEqual([]);
    expect(connections).toBeGreaterThan(20);
    const { delivered, missing, resyncs } = outages['rejected connections, 1 s'] ?? {};
    expect({ missing, resyncs }).toEqual({ missing: 0, resyncs: 0 });
    expect(delivered).toBeGreaterThan(0);
    expect(outages['FLUSHALL']?.resyncs).toBe(20);
  },
  120_000,
);
