import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createFailedAttempts, type FailedAttempts } from './failedAttempts.ts';
import { memoryState } from '../state/memoryState.ts';
import type { State } from '../state/state.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const from = (address: string) => ({ remoteAddress: () => address }) as HttpRequest;
const here = from('192.0.2.1');
const create = (attempts: number, windowSeconds: number) =>
  createFailedAttempts({ attempts, windowSeconds }, (request) => request.remoteAddress());

it('failedAttempts answers 429 with the time to wait to an address with too many invalid tokens', () => {
  const failedAttempts = create(2, 60);
  expect(failedAttempts.count(here, 'a', undefined, 'API key')).toBeUndefined();
  expect(failedAttempts.count(here, 'b', undefined, 'API key')).toBeUndefined();
  expect(failedAttempts.count(here, 'c', undefined, 'API key')).toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    limit: 'failed-attempts',
    message: 'Too many invalid API keys from this address: the limit is 2 in 60 s. Try again later.',
    retryAfterSeconds: 30,
  });
  expect(failedAttempts.count(from('192.0.2.2'), 'c', undefined, 'API key')).toBeUndefined();
  vi.advanceTimersByTime(30_000);
  expect(failedAttempts.count(here, 'c', undefined, 'API key')).toBeUndefined();
});

it('failedAttempts rounds a wait of less than a second up to one second', () => {
  const failedAttempts = create(10, 1);
  for (let count = 0; count < 10; count += 1) void failedAttempts.count(here, 'a', undefined, 'API key');
  expect(failedAttempts.count(here, 'a', undefined, 'API key')).toMatchObject({ retryAfterSeconds: 1 });
});

it('failedAttempts remembers a rejected token for half a second from the start of its verification', () => {
  const failedAttempts = create(2, 60);
  expect(failedAttempts.isKnown('a')).toBe(false);
  vi.advanceTimersByTime(100);
  void failedAttempts.count(here, 'a', performance.now() - 100, 'API key');
  vi.advanceTimersByTime(399);
  expect([failedAttempts.isKnown('a'), failedAttempts.isKnown('b')]).toEqual([true, false]);
  vi.advanceTimersByTime(1);
  expect(failedAttempts.isKnown('a')).toBe(false);
});

it.each([127, 128, 129, 10_000])('failedAttempts distinguishes tokens of %i characters', (length) => {
  const failedAttempts = create(2, 60);
  const long = 'a'.repeat(length - 1);
  void failedAttempts.count(here, `${long}a`, performance.now(), 'API key');
  expect([failedAttempts.isKnown(`${long}a`), failedAttempts.isKnown(`${long}b`)]).toEqual([true, false]);
});

it('failedAttempts remembers at most the latest 1,000 tokens', () => {
  const failedAttempts = create(5000, 60);
  for (let count = 0; count < 2500; count += 1) {
    void failedAttempts.count(here, `${count}`, performance.now(), 'API key');
  }
  expect(failedAttempts.known()).toBeLessThanOrEqual(1000);
  expect([failedAttempts.isKnown('2100'), failedAttempts.isKnown('1000')]).toEqual([true, false]);
});

it('failedAttempts no longer counts a silent WebSocket after its part of the window has passed', () => {
  const failedAttempts = create(2, 60);
  failedAttempts.countSilent(here);
  failedAttempts.countSilent(here);
  vi.advanceTimersByTime(29_000);
  expect(failedAttempts.silentRejection(here)).toBeDefined();
  vi.advanceTimersByTime(1000);
  expect(failedAttempts.silentRejection(here)).toBeUndefined();
});

it('failedAttempts does not remember a token that was verified synchronously', () => {
  const failedAttempts = create(2, 60);
  void failedAttempts.count(here, 'a', undefined, 'API key');
  expect([failedAttempts.isKnown('a'), failedAttempts.known()]).toEqual([false, 0]);
});

it('failedAttempts remembers no new tokens of an address over its limit, and renews remembered ones', () => {
  const failedAttempts = create(1, 60);
  void failedAttempts.count(here, 'a', performance.now(), 'API key');
  vi.advanceTimersByTime(1000);
  expect(failedAttempts.count(here, 'b', performance.now(), 'API key')).toBeDefined();
  expect([failedAttempts.isKnown('b'), failedAttempts.known()]).toEqual([false, 1]);
  expect(failedAttempts.count(here, 'a', performance.now(), 'API key')).toBeDefined();
  expect([failedAttempts.isKnown('a'), failedAttempts.known()]).toEqual([true, 1]);
});

it('failedAttempts rejects WebSockets of an address with too many silent ones', () => {
  const failedAttempts = create(2, 60);
  expect(failedAttempts.silentRejection(here)).toBeUndefined();
  failedAttempts.countSilent(here);
  expect(failedAttempts.silentRejection(here)).toBeUndefined();
  failedAttempts.countSilent(here);
  expect(failedAttempts.silentRejection(here)).toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    limit: 'failed-attempts',
    message:
      'Too many WebSockets without a credential from this address: the limit is 2 in 60 s. Try again later.',
    retryAfterSeconds: 30,
  });
  expect(failedAttempts.silentRejection(from('192.0.2.2'))).toBeUndefined();
});

it('failedAttempts counts silent WebSockets as invalid tokens, but not invalid tokens as silent WebSockets', () => {
  const silent = create(1, 60);
  silent.countSilent(here);
  expect(silent.count(here, 'a', undefined, 'API key')).toBeDefined();
  const invalid = create(1, 60);
  void invalid.count(here, 'a', undefined, 'API key');
  expect(invalid.silentRejection(here)).toBeUndefined();
});

it('failedAttempts counts the attempts of an address across processes that share a state', async () => {
  const memory = memoryState();
  // Asynchronous, like a database.
  const state: State = { ...memory, take: async (...args) => memory.take(...args) };
  const [first, second] = [1, 2].map(() =>
    createFailedAttempts({ attempts: 2, windowSeconds: 60 }, (request) => request.remoteAddress(), state),
  ) as [FailedAttempts, FailedAttempts];
  expect(await first.count(here, 'a', performance.now(), 'API key')).toBeUndefined();
  expect(first.isKnown('a')).toBe(true);
  expect(await second.count(here, 'b', undefined, 'API key')).toBeUndefined();
  expect(await first.count(here, 'c', undefined, 'API key')).toMatchObject({ limit: 'failed-attempts' });
});
