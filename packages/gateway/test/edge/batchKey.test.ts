import { expect, it } from 'vitest';
import { startEdge } from './startEdge.ts';

const bodies = { 0: { value: 1 }, 1: { value: 2 } };

it.each(['writeOnce,writeOnce', 'writeOnce,write', 'write,writeOnce'])(
  'an Idempotency-Key on a batch of %s is 400, and none of its calls run: a repeat would run them again',
  async (calls) => {
    const { post, seen } = await startEdge();
    const response = await post(`/trpc/${calls}?batch=1`, bodies, { 'idempotency-key': 'key-1' });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('Idempotency-Key: a batch cannot have one'),
    ]);
    expect(seen.written).toBe(0);
  },
);

it('an Idempotency-Key on a batch of procedures that take none is ignored', async () => {
  const { post, seen } = await startEdge();
  expect((await post('/trpc/write,write?batch=1', bodies, { 'idempotency-key': 'key-1' })).status).toBe(200);
  expect(seen.written).toBe(2);
});
