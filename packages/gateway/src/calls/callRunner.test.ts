import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { limitsOf } from './limits.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { CallRunner } from './callRunner.ts';
import { CallContext } from './requestContext.ts';

it('of two calls that are left when a third expires, the one with the earlier deadline expires first', async () => {
  // A clock that only the test moves. The gateway has read the global before.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const now = vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  onTestFinished(() => {
    now.mockRestore();
    vi.useRealTimers();
  });
  const calls = new CallRunner(limitsOf({ callTimeoutMs: 5000 }));
  const ended: number[] = [];
  for (const timeoutMs of [20, 200, 2000]) {
    const shared = new CallContext(inProcessRequest('GET', '/'));
    const context = new CallContext(shared.request, shared, timeoutMs);
    calls.wait(new Promise<never>(() => {}), context, () => ended.push(timeoutMs));
  }
  vi.advanceTimersByTime(20);
  expect(ended).toEqual([20]);
  vi.advanceTimersByTime(180);
  expect(ended).toEqual([20, 200]);
});

const longestTimer = 2 ** 31 - 1;

it.each([
  [Infinity, []],
  [2 ** 31 + 1000, [longestTimer]],
  [2 ** 53, [longestTimer]],
])(
  'a pending call with callTimeoutMs: %d, which is longer than any timer, does not expire, and starts the timers %j',
  async (callTimeoutMs, expected) => {
    const calls = new CallRunner(limitsOf({ callTimeoutMs }));
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const outcome = await new Promise((resolve) =>
      calls.wait(sleep(50, 'done'), new CallContext(inProcessRequest('GET', '/')), resolve),
    );
    expect(outcome).toBe('done');
    const delays = timers.mock.calls.map(([, ms]) => ms);
    timers.mockRestore();
    expect(delays.filter((ms = 0) => ms >= longestTimer)).toEqual(expected);
  },
);

it('a minor garbage collection frees completed calls, although other calls were pending at the same time', async () => {
  // In a process of its own: a collection of a large heap promotes what it finds.
  const args = ['--conditions=trpc-gateway-source', '--expose-gc', '../testing/heapOfCalls.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  // The payloads take 20 MB. If completed calls were promoted, only a full collection would free them.
  expect(Number(stdout)).toBeLessThan(8_000_000);
});
