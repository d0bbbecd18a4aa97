import { expect, it, vi } from 'vitest';
import { Drain } from './drain.ts';

it('a drain without a deadline sets no timer of a negative time, which Node 24 warns of on stderr', async () => {
  const setTimer = vi.spyOn(globalThis, 'setTimeout');
  await new Drain().wait({ connections: () => 1, calls: () => 1 }, { deadlineMs: 0 });
  const times = setTimer.mock.calls.map(([, ms]) => ms);
  setTimer.mockRestore();
  expect(times).toEqual([0, 0]);
});
