import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { memoryState, type State } from '../index.ts';

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
