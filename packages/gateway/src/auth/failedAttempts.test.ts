import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createFailedAttempts } from './failedAttempts.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const from = (address: string) => ({ remoteAddress: () => address }) as HttpRequest;
const here = from('192.0.2.1');
const create = (attempts: number, seconds: number) =>
  createFailedAttempts({ attempts, windowMs: seconds * 1000 }, (request) => request.remoteAddress());

it('failedAttempts rounds a wait of less than a second up to one second', () => {
  const failedAttempts = create(10, 1);
  for (let count = 0; count < 10; count += 1)
    void failedAttempts.countFailure(here, 'a', undefined, 'API key');
  expect(failedAttempts.countFailure(here, 'a', undefined, 'API key')).toMatchObject({
    retryAfterSeconds: 1,
  });
});

it.each([127, 128, 129, 10_000])('failedAttempts distinguishes tokens of %i characters', (length) => {
  const failedAttempts = create(2, 60);
  const long = 'a'.repeat(length - 1);
  void failedAttempts.countFailure(here, `${long}a`, performance.now(), 'API key');
  expect([failedAttempts.wasRejected(`${long}a`), failedAttempts.wasRejected(`${long}b`)]).toEqual([
    true,
    false,
  ]);
});

it('failedAttempts remembers at most the latest 1,000 tokens, and one that is sent again among them', () => {
  const failedAttempts = create(5000, 60);
  for (let count = 0; count < 2500; count += 1) {
    void failedAttempts.countFailure(here, `${count}`, performance.now(), 'API key');
    expect(failedAttempts.wasRejected('0')).toBe(true);
  }
  expect(failedAttempts.rememberedRejections()).toBeLessThanOrEqual(1000);
  expect([failedAttempts.wasRejected('2100'), failedAttempts.wasRejected('1000')]).toEqual([true, false]);
});

it('failedAttempts rejects WebSockets of an address with too many silent ones, until their part of the window has passed', () => {
  const failedAttempts = create(2, 60);
  for (let count = 0; count < 2; count += 1) failedAttempts.countSilentSocket(here);
  expect(failedAttempts.silentRejection(here)).toMatchObject({ retryAfterSeconds: 30 });
  expect(failedAttempts.silentRejection(from('192.0.2.2'))).toBeUndefined();
  vi.advanceTimersByTime(30_000);
  expect(failedAttempts.silentRejection(here)).toBeUndefined();
});

it('failedAttempts counts silent WebSockets as invalid tokens, but not invalid tokens as silent WebSockets', () => {
  const silent = create(1, 60);
  silent.countSilentSocket(here);
  expect(silent.countFailure(here, 'a', undefined, 'API key')).toBeDefined();
  const invalid = create(1, 60);
  void invalid.countFailure(here, 'a', undefined, 'API key');
  expect(invalid.silentRejection(here)).toBeUndefined();
});
