import { expect, it } from 'vitest';
import { startEdge } from './startEdge.ts';

const bodies = { 0: { value: 1 }, 1: { value: 2 } };

it.each(['writeOnce,writeOnce', 'writeOnce,write', 'write,writeOnce'])(
  'POST /trpc/%s?batch=1 with an Idempotency-Key is rejected with 400 before any call runs, because a retry would run them again',
  async (calls) => {
    const { post, counters } = await startEdge();
    const response = await post(`/trpc/${calls}?batch=1`, bodies, { 'idempotency-key': 'key-1' });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('Idempotency-Key: is not supported for batches.'),
    ]);
    expect(counters.written).toBe(0);
  },
);

it('an Idempotency-Key is ignored on a batch of procedures that do not support one', async () => {
  const { post, counters } = await startEdge();
  expect((await post('/trpc/write,write?batch=1', bodies, { 'idempotency-key': 'key-1' })).status).toBe(200);
  expect(counters.written).toBe(2);
});
