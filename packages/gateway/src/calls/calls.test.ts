import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { initTRPC } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import { readProcedures } from '../procedures/procedures.ts';
import { limitsOf } from './limits.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { Calls } from './calls.ts';
import { CallContext } from './requestContext.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { CallTelemetry } from './telemetry.ts';

it('each pending call expires at its own deadline, not at the next sweep after it', async () => {
  const calls = new Calls(limitsOf({ callTimeoutMs: 600 }));
  const ended: string[] = [];
  const wait = (name: string) =>
    new Promise<void>((resolve) => {
      calls.wait(new Promise<never>(() => {}), new CallContext(inProcessRequest('GET', '/')), () => {
        ended.push(name);
        resolve();
      });
    });
  const first = wait('first');
  await sleep(300);
  const second = wait('second');
  // Halfway between the deadline of the second call and the end of another timeout. Timers fire in the order of their
  // times, even if all of them are late.
  const between = sleep(750).then(() => ended.push('between'));
  await Promise.all([first, second, between]);
  expect(ended).toEqual(['first', 'second', 'between']);
});

it('of two calls that are left when a third expires, the one with the earlier deadline expires first', async () => {
  const calls = new Calls(limitsOf({ callTimeoutMs: 5000 }));
  const wait = (timeoutMs: number) => {
    const shared = new CallContext(inProcessRequest('GET', '/'));
    return new Promise<number>((resolve) => {
      const context = new CallContext(shared.request, shared, timeoutMs);
      calls.wait(new Promise<never>(() => {}), context, () => resolve(timeoutMs));
    });
  };
  const [first, earlier, later] = [wait(20), wait(200), wait(2000)];
  expect(await first).toBe(20);
  expect(await Promise.race([earlier, later, sleep(1000, 'neither')])).toBe(200);
});

const longestTimer = 2 ** 31 - 1;

it.each([
  [Infinity, []],
  [2 ** 31 + 1000, [longestTimer]],
  [2 ** 53, [longestTimer]],
])(
  'a pending call with callTimeoutMs: %d, which is longer than any timer, does not expire, and starts the timers %j',
  async (callTimeoutMs, expected) => {
    const calls = new Calls(limitsOf({ callTimeoutMs }));
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

it('calls that become pending after all others have expired expire, too', async () => {
  const calls = new Calls(limitsOf({ callTimeoutMs: 20 }));
  const wait = () =>
    new Promise((resolve) => {
      calls.wait(new Promise<never>(() => {}), new CallContext(inProcessRequest('GET', '/')), resolve);
    });
  for (let count = 0; count < 3; count += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await wait()).toMatchObject({ error: { code: 'GATEWAY_TIMEOUT', limit: 'call-timeout' } });
    expect(calls.inFlight).toBe(0);
  }
});

it('a minor garbage collection frees completed calls, although other calls were pending at the same time', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
  const calls = new Calls(limitsOf({}));
  const heapAfter = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      const payload = Array.from({ length: 100 }, () => at + 0.5);
      calls.wait(Promise.resolve(), new CallContext(inProcessRequest('GET', '/')), () => payload);
      // 32 calls overlap.
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (at % 32 === 0) await Promise.resolve();
      if (at % 2000 === 0) collect({ type: 'minor' });
    }
    collect({ type: 'minor' });
    collect({ type: 'minor' });
    return process.memoryUsage().heapUsed;
  };
  collect();
  const before = await heapAfter(10_000);
  // The payloads take 20 MB. If completed calls were promoted, only a full collection would free them.
  expect((await heapAfter(20_000)) - before).toBeLessThan(8_000_000);
});

/** An object with a message that cannot be converted to a string. */
const unconvertible = { message: Object.create(null) as string };

describe('a call with failing telemetry', () => {
  const throwError = (_result?: unknown) => {
    throw new Error('no span');
  };
  it.each<[what: string, call: CallTelemetry | (() => never)]>([
    ['returns its output if telemetry throws at the start', throwError],
    [
      'returns its output if telemetry throws at the end',
      { trace: undefined, run: (run) => run(), end: throwError },
    ],
    [
      'returns its output if the run function of telemetry throws before it runs the call',
      { trace: undefined, run: throwError, end: () => {} },
    ],
    [
      'runs once and returns its output if the run function of telemetry throws after it',
      { trace: undefined, run: (run) => throwError(void run()), end: () => {} },
    ],
  ])('a call %s', async (_what, call) => {
    let runs = 0;
    const t = initTRPC.create();
    const { procedures } = await readProcedures(t.router({ a: t.procedure.query(() => (runs += 1)) }));
    const [procedure] = procedures;
    const calls = new Calls(limitsOf({}), true);
    const outcomes: unknown[] = [];
    const receiver = { settle: (index: number, settled: unknown) => outcomes.push(index, settled) };
    const context = new CallContext(inProcessRequest('GET', '/'));
    context.telemetry = { call: () => (typeof call === 'function' ? call() : call) };
    calls.start(procedure as Procedure, {}, { read: () => undefined }, 3, context, receiver);
    expect(outcomes).toEqual([3, 1]);
    expect(calls.inFlight).toBe(0);
  });
});

describe('Calls.wait', () => {
  it('Calls.wait reports a Failure if the promise rejects with an error that has no readable message', async () => {
    const calls = new Calls(limitsOf({}));
    const outcome = await new Promise((resolve) => {
      // oxlint-disable-next-line prefer-promise-reject-errors -- anything may be thrown
      calls.wait(Promise.reject(unconvertible), new CallContext(inProcessRequest('GET', '/')), resolve);
    });
    expect(outcome).toMatchObject({ error: { code: 'INTERNAL_SERVER_ERROR' } });
    expect(calls.inFlight).toBe(0);
  });
});
