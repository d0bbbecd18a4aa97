import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TRPCError } from '@trpc/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { memoryState, type State } from '../index.ts';
import { IdempotencyState } from './idempotencyState.ts';
import { t, testGateway } from '../testing/testGateway.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  // The gateway has read the global before.
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  // Without threads, whose time the fake clock does not know.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(
    async (_algorithm, data) =>
      Uint8Array.from(
        createHash('sha256')
          .update(new Uint8Array(data as ArrayBuffer))
          .digest(),
      ).buffer,
  );
});
afterEach(() => void vi.useRealTimers());

/** Lets time pass until a promise settles. */
async function inFakeTime<Value>(promise: Promise<Value>): Promise<Value> {
  const progress = { isSettled: false };
  const settle = () => void (progress.isSettled = true);
  promise.then(settle, settle);
  while (!progress.isSettled) {
    await nextTurn();
    await vi.advanceTimersByTimeAsync(progress.isSettled ? 0 : 10);
  }
  return promise;
}

/** A gateway whose state has these methods instead of its own, with a payment that fails with 503 for an amount of 0. */
async function start(replaced: (state: State) => Partial<State>, callTimeoutMs = 30_000) {
  let runs = 0;
  const errors: unknown[] = [];
  const state = memoryState();
  const router = t.router({
    pay: t.procedure
      .meta({ idempotencyKey: 'optional', openapi: { method: 'POST', path: '/payments' } })
      .input(z.object({ amount: z.int() }))
      .output(z.int())
      .mutation(({ input: { amount } }) => {
        runs += 1;
        if (amount === 0) throw new TRPCError({ code: 'SERVICE_UNAVAILABLE' });
        return runs;
      }),
  });
  const { fetch } = await testGateway(router, {
    state: { ...state, ...replaced(state) },
    callTimeoutMs,
    onResponse: ({ error }) => error !== undefined && errors.push(error),
  });
  const pay = async (key?: string, amount = 1, timeout = {}) => {
    const startedAt = performance.now();
    const sent = fetch('http://localhost/v1/payments', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
        ...timeout,
      },
      body: JSON.stringify({ amount }),
    });
    const { headers, status } = await inFakeTime(sent);
    const isReplayed = headers.has('idempotent-replayed');
    return { status, isReplayed, ms: performance.now() - startedAt };
  };
  return { errors, runs: () => runs, pay };
}

const never = () => new Promise<never>(() => {});
const lost = () => new Error('The reply was lost.');

describe('a state that does not respond', () => {
  it('a call with a key answers 503 after 1.5 s and does not run, the next ones at once, and calls without a key run', async () => {
    let hangs = true;
    const { errors, pay, runs } = await start(({ add }) => ({
      add: (...entry) => (hangs ? never() : add(...entry)),
    }));
    const first = await pay('key-1');
    expect(first.status).toBe(503);
    expect(first.ms).toBeGreaterThanOrEqual(1500);
    expect(first.ms).toBeLessThan(3000);
    expect(errors).toEqual([
      expect.objectContaining({
        cause: expect.objectContaining({ message: 'The state did not respond within 1500 ms.' }),
      }),
    ]);
    const second = await pay('key-2');
    expect(second.status).toBe(503);
    expect(second.ms).toBeLessThan(1400);
    expect([(await pay()).status, runs()]).toEqual([200, 1]);
    hangs = false;
    await vi.waitFor(async () => expect((await pay('key-1')).status).toBe(200));
    expect(await pay('key-1')).toMatchObject({ status: 200, isReplayed: true });
    expect(runs()).toBe(2);
  });

  it('a call with a key waits no longer than callTimeoutMs', async () => {
    const { pay, runs } = await start(() => ({ add: never }), 200);
    const { ms, status } = await pay('key-1');
    expect([503, 504]).toContain(status);
    expect(ms).toBeLessThan(1400);
    expect(runs()).toBe(0);
  });

  it('a response that is not stored within 1.5 s is sent and reported, and replayed once it is stored', async () => {
    const gate = Promise.withResolvers<void>();
    const { errors, pay, runs } = await start(({ set }) => ({
      set: async (...entry) => {
        await gate.promise;
        return set(...entry);
      },
    }));
    const first = await pay('key-1');
    expect(first.status).toBe(200);
    expect(first.ms).toBeGreaterThanOrEqual(1500);
    expect(first.ms).toBeLessThan(3000);
    expect(errors).toEqual([
      new Error(
        'Idempotency-Key: the state did not store the response or release the key within 1500 ms. The response was sent, and the attempts go on in the background.',
      ),
    ]);
    expect(await pay('key-1')).toMatchObject({ status: 409 });
    gate.resolve();
    await vi.waitFor(async () => expect(await pay('key-1')).toMatchObject({ isReplayed: true }));
    expect(runs()).toBe(1);
  });
});

/** Creates a function that throws a number of times before it calls another. */
function failing<Arguments extends unknown[], Result>(times: number, method: (...args: Arguments) => Result) {
  let failures = times;
  return (...args: Arguments): Result => {
    failures -= 1;
    if (failures >= 0) throw lost();
    return method(...args);
  };
}

describe('a state that fails', () => {
  it('a response is stored in the background if the state fails for longer, and the last error is reported', async () => {
    let isAway = true;
    const { errors, pay, runs } = await start(({ set }) => ({
      set(...entry) {
        if (isAway) throw lost();
        return set(...entry);
      },
    }));
    expect((await pay('key-1')).status).toBe(200);
    expect(errors).toEqual([expect.objectContaining({ cause: lost() })]);
    isAway = false;
    await vi.waitFor(async () => expect(await pay('key-1')).toMatchObject({ isReplayed: true }));
    expect(runs()).toBe(1);
  });

  it('a key whose reply was lost when it was reserved answers 503, and a retry runs the call', async () => {
    let losses = 1;
    const { pay, runs } = await start(({ add }) => ({
      async add(...entry) {
        const existing = await add(...entry);
        losses -= 1;
        if (losses >= 0) throw lost();
        return existing;
      },
    }));
    expect([(await pay('key-1')).status, runs()]).toEqual([503, 0]);
    await vi.waitFor(async () => expect((await pay('key-1')).status).toBe(200));
    expect(runs()).toBe(1);
  });

  it('a key is reserved if the state returns the value that was just added, as after a repeated write', async () => {
    const { pay, runs } = await start(({ add }) => ({
      add: async (key, value, ttlMs) => (await add(key, value, ttlMs)) ?? value,
    }));
    expect((await pay('key-1')).status).toBe(200);
    expect(await pay('key-1')).toMatchObject({ status: 200, isReplayed: true });
    expect(runs()).toBe(1);
  });

  it('a key that is reserved after the timeout of its client is released, even if the state fails to remove it for seconds', async () => {
    const { pay, runs } = await start((state) => ({
      async add(...entry) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return state.add(...entry);
      },
      // They last longer than a request waits.
      delete: failing(6, state.delete),
    }));
    expect([(await pay('key-1', 1, { 'grpc-timeout': '50m' })).status, runs()]).toEqual([504, 0]);
    await vi.waitFor(async () => expect((await pay('key-1')).status).toBe(200));
    expect(runs()).toBe(1);
  });

  it('a repeated removal of a key, whose reply was lost, does not remove the key of a retry', async () => {
    let losses = 1;
    const { pay, runs } = await start((state) => ({
      async delete(...entry) {
        await state.delete(...entry);
        losses -= 1;
        if (losses < 0) return;
        // The retry is stored before the removal is repeated.
        expect((await pay('key-1', 1)).status).toBe(200);
        throw lost();
      },
    }));
    // The first attempt fails with 503, and its key is released.
    await pay('key-1', 0);
    await vi.advanceTimersByTimeAsync(500);
    expect(await pay('key-1', 1)).toMatchObject({ isReplayed: true });
    expect(runs()).toBe(2);
  });

  /** An `IdempotencyState` whose state fails, or never responds, and counts removals. */
  function startFailing(replaced: Partial<State> = {}) {
    let isAway = true;
    let removals = 0;
    const stored = new Set<string>();
    const idempotencyState = new IdempotencyState(
      {
        ...memoryState(),
        add: async (key) => {
          stored.add(key);
          if (isAway) throw lost();
          return undefined;
        },
        set: async () => {
          if (isAway) throw lost();
        },
        delete: async (key) => {
          removals += 1;
          if (isAway) throw lost();
          stored.delete(key);
        },
        ...replaced,
      },
      3_600_000,
      30_000,
    );
    const reserve = (key: string) =>
      idempotencyState.reserve({ key, value: `value of ${key}`, caller: '' }, 3_600_000);
    const end = () => {
      isAway = false;
      removals = 0;
    };
    const storeAll = (count: number, bytes: number) => {
      const reserved = { key: 'key', value: '', caller: '' };
      return Promise.allSettled(
        Array.from({ length: count }, () => idempotencyState.store(reserved, 'x'.repeat(bytes))),
      );
    };
    return { end, removals: () => removals, reserve, storeAll, stored };
  }

  it('new keys are reserved at once after 1,000 keys failed, and each of those is released by one removal', async () => {
    const { end, removals, reserve, stored } = startFailing();
    const rejections = Array.from({ length: 1000 }, (_, at) => reserve(`key-${at}`));
    for (const { status } of await Promise.allSettled(rejections)) expect(status).toBe('rejected');
    await vi.advanceTimersByTimeAsync(5000);
    end();
    expect(await reserve('new')).toBeUndefined();
    await vi.advanceTimersByTimeAsync(120_000);
    expect([removals(), [...stored]]).toEqual([1000, ['new']]);
  });

  it('a key that was stored up to a minute after its timeout is released, and no key is removed later', async () => {
    const { end, removals, reserve, stored } = startFailing({ add: never });
    end();
    const late = Promise.allSettled([reserve('late')]);
    await vi.advanceTimersByTimeAsync(1500);
    expect((await late)[0]).toMatchObject({ status: 'rejected' });
    await vi.advanceTimersByTimeAsync(59_000);
    stored.add('late');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(stored).toEqual(new Set());
    const before = removals();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(removals()).toBe(before);
  });

  it('keys are rejected while 64 MiB of responses wait for the state in the background, until it has stored them', async () => {
    const { end, reserve, storeAll } = startFailing();
    const stores = storeAll(33, 1_000_000);
    await vi.advanceTimersByTimeAsync(1500);
    await stores;
    const last = storeAll(1, 1_000_000);
    // Its request still waits.
    await expect(reserve('first')).rejects.toThrow(lost());
    await vi.advanceTimersByTimeAsync(1500);
    await last;
    await expect(reserve('second')).rejects.toThrow(
      /^The state has yet to store or remove 68\d{6} bytes of earlier requests\.$/,
    );
    end();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await reserve('second')).toBeUndefined();
  });

  it('responses that were not stored until their keys expired no longer count as waiting', async () => {
    const { end, reserve, storeAll } = startFailing();
    const stores = storeAll(5, 7_000_000);
    await vi.advanceTimersByTimeAsync(1500);
    await stores;
    await expect(reserve('second')).rejects.toThrow('The state has yet to store or remove');
    await vi.advanceTimersByTimeAsync(3_620_000);
    await expect(reserve('second')).rejects.toThrow(lost());
    end();
    expect(await reserve('second')).toBeUndefined();
  });
});
