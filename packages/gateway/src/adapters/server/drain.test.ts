import { expect, it, vi } from 'vitest';
import { Drain } from './drain.ts';

it('Drain.wait with deadlineMs: 0 sets no timer with a negative delay, for which Node 24 prints a warning', async () => {
  const setTimer = vi.spyOn(globalThis, 'setTimeout');
  await new Drain().wait({ connections: () => 1, calls: () => 1 }, { deadlineMs: 0 });
  const times = setTimer.mock.calls.map(([, ms]) => ms);
  setTimer.mockRestore();
  expect(times).toEqual([0, 0]);
});
