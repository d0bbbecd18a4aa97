import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { bearer, memoryState, type State } from '../index.ts';
import type { GatewayMeta } from '../procedures/meta.ts';
import { testGateway } from '../testing/testGateway.ts';

describe('memoryState', () => {
  it('memoryState keeps its values when the system clock is changed', () => {
    const state = memoryState();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    void state.add('key', 'value', 86_400_000);
    vi.setSystemTime(Date.now() + 2 * 86_400_000);
    expect(state.add('key', 'other', 86_400_000)).toBe('value');
  });

  const has = (state: State, key: string) => state.add(key, 'probe', 1000) !== undefined;

  it('memoryState keeps values up to maxSize exactly, and removes the oldest response of a caller beyond it', () => {
    const store = (maxSize: number) => {
      const state = memoryState({ maxSize });
      for (const key of ['a', 'b', 'c', 'd']) void state.set(key, 'value', 1000, 'ada');
      return state;
    };
    // A value and a caller take 200 bytes each, and two for each character.
    const exact = 4 * (200 + 2 * 6) + 200 + 2 * 3;
    expect(has(store(exact), 'a')).toBe(true);
    expect(has(store(exact - 1), 'a')).toBe(false);
    expect(has(store(exact - 1), 'b')).toBe(true);
  });

  it('memoryState removes responses of the caller with the most, not of a caller with few', () => {
    const state = memoryState({ maxSize: 20_000 });
    void state.set('payment of ada', 'paid', 1000, 'ada');
    const flood = Array.from({ length: 200 }, (_, at) => `flood ${at}`);
    for (const key of flood) void state.set(key, 'x'.repeat(500), 1000, 'eve');
    expect(has(state, 'payment of ada')).toBe(true);
    for (const key of flood.slice(-10)) expect(has(state, key)).toBe(true);
    expect(has(state, 'flood 0')).toBe(false);
  });

  it('memoryState removes responses of callers with more than half as many bytes as the largest, also when another caller fills the memory, and of no other', () => {
    const state = memoryState({ maxSize: 100_000 });
    const store = (caller: string, count: number) => {
      const keys = Array.from({ length: count }, (_, at) => `${caller} ${at}`);
      for (const key of keys) void state.set(key, 'x'.repeat(390), 1000, caller);
      return keys;
    };
    const small = store('ada', 15);
    const large = store('bob', 80);
    store('eve', 1000);
    const kept = large.filter((key) => has(state, key));
    expect(small.filter((key) => !has(state, key))).toEqual([]);
    // Of about 80 responses for two callers, at least a third.
    expect(kept.length).toBeGreaterThan(26);
    expect(kept.length).toBeLessThan(54);
    expect(kept).toEqual(large.slice(-kept.length));
  });

  it('memoryState rejects a value that cannot fit beside the calls that are running, and keeps all others', () => {
    const state = memoryState({ maxSize: 10_000 });
    void state.add('call', 'runs', 1000);
    for (const key of ['a', 'b', 'c']) void state.set(key, 'x'.repeat(1000), 1000, 'ada');
    const isKept = () => ['a', 'b', 'c'].filter((key) => has(state, key));
    // The call takes 216 bytes, a value 200 and two for each character, and its caller as much.
    const fits = 'x'.repeat((10_000 - 216 - 200 - 2 * 3 - 200 - 2 * 3) / 2);
    for (const add of [
      () => state.set('big', `${fits}x`, 1000, 'eve'),
      () => state.add('big', 'x'.repeat(5000), 1000),
    ]) {
      expect(add).toThrow(
        /^memoryState: a value of \d+ bytes does not fit into maxSize \(10000\): running calls take 216 bytes\.$/,
      );
      expect(isKept()).toEqual(['a', 'b', 'c']);
    }
    void state.set('big', fits, 1000, 'eve');
    expect([has(state, 'big'), isKept()]).toEqual([true, []]);
  });

  it('memoryState uses the room of expired and deleted values again', async () => {
    const state = memoryState({ maxSize: 1200 });
    for (let round = 0; round < 20; round += 1) {
      for (const key of ['a', 'b', 'c']) expect(state.add(key, 'call', 1000)).toBeUndefined();
      void state.set('a', 'response', 1, 'ada');
      void state.delete('b', 'call');
      await sleep(2);
      expect([has(state, 'a'), has(state, 'b'), has(state, 'c')]).toEqual([false, false, true]);
      for (const key of ['a', 'b']) void state.delete(key, 'probe');
      void state.delete('c', 'call');
    }
  });

  it.each([0, -1, NaN])('memoryState rejects maxSize %d', (maxSize) => {
    expect(() => memoryState({ maxSize })).toThrow(
      `maxSize is ${maxSize}; it must be a positive number of bytes.`,
    );
  });

  const t = initTRPC.meta<GatewayMeta>().create();

  /** A gateway with a payment for callers with a credential, and an echo for everyone. */
  async function startPayments() {
    const gates = new Map<string, Promise<unknown>>();
    let payments = 0;
    const router = t.router({
      pay: t.procedure
        .meta({ idempotencyKey: 'required' })
        .input(z.string())
        .mutation(async ({ input }) => {
          const payment = (payments += 1);
          await gates.get(input);
          return payment;
        }),
      echo: t.procedure
        .meta({
          idempotencyKey: 'optional',
          openapi: { method: 'POST', path: '/echo', protect: false },
        })
        .output(z.string())
        .input(z.object({ text: z.string() }))
        .mutation(({ input }) => input.text),
    });
    const { fetch } = await testGateway(router, {
      authentication: bearer({ verify: (token) => token }),
      state: memoryState({ maxSize: 100_000 }),
    });
    const post = (path: string, input: unknown, key: string, headers: Record<string, string> = {}) =>
      fetch(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key, ...headers },
        body: JSON.stringify(input),
      });
    const pay = (input: string) => post('/trpc/pay', input, 'key', { authorization: 'Bearer ada' });
    const flood = async () => {
      for (let at = 0; at < 100; at += 1) {
        const { status } = await post('/v1/echo', { text: 'x'.repeat(5000) }, `flood-${at}`);
        expect(status).toBe(200);
      }
    };
    return { gates, payments: () => payments, pay, flood };
  }

  it('calls without a credential cannot remove the response of a caller with fewer bytes from the default state', async () => {
    const { flood, pay, payments } = await startPayments();
    await pay('rent');
    await flood();
    expect((await pay('rent')).headers.get('idempotent-replayed')).toBe('true');
    expect(payments()).toBe(1);
  });

  it('calls without a credential cannot make a mutation that still runs run again', async () => {
    const { flood, gates, pay, payments } = await startPayments();
    const gate = Promise.withResolvers<void>();
    gates.set('rent', gate.promise);
    const first = pay('rent');
    await vi.waitFor(() => expect(payments()).toBe(1));
    await flood();
    expect((await pay('rent')).status).toBe(409);
    gate.resolve();
    await first;
    expect(payments()).toBe(1);
  });
});
