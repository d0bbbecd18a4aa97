import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished, vi } from 'vitest';
import { limitsOf } from './limits.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { CallRunner } from './callRunner.ts';
import { CallContext } from './requestContext.ts';

/** A clock that only moves when a test moves it. */
const useFakeClock = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  // The gateway has read the global before.
  const now = vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  onTestFinished(() => {
    now.mockRestore();
    vi.useRealTimers();
  });
};

it('of two calls that are left when a third expires, the one with the earlier deadline expires first', async () => {
  useFakeClock();
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
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
  const calls = new CallRunner(limitsOf({}));
  const heapAfter = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      const payload = Array.from({ length: 100 }, () => at + 0.5);
      calls.wait(Promise.resolve(), new CallContext(inProcessRequest('GET', '/')), () => payload);
      // 32 calls overlap.
      if (at % 32 === 0) await Promise.resolve();
      if (at % 2000 === 0) collect({ type: 'minor' });
    }
    collect({ type: 'minor' });
    collect({ type: 'minor' });
    return process.memoryUsage().heapUsed;
  };
  let growth = Infinity;
  // Again if the collector happened to mark the whole heap meanwhile, which promotes what it finds.
  for (let attempt = 0; growth > 8_000_000 && attempt < 3; attempt += 1) {
    collect();
    const before = await heapAfter(10_000);
    growth = (await heapAfter(20_000)) - before;
  }
  // The payloads take 20 MB. If completed calls were promoted, only a full collection would free them.
  expect(growth).toBeLessThan(8_000_000);
});
