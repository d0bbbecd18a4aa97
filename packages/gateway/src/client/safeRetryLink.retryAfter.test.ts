import { expect, it } from 'vitest';
import { retryAfterMs } from './safeRetryLink.ts';

const now = Date.UTC(1994, 10, 6, 8, 49, 0);

it.each([
  ['0', 0],
  ['120', 120_000],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
  ['Sun Nov  6 08:49:37 1994', 37_000],
  ['Sun, 06 Nov 1994 08:48:37 GMT', 0],
])('retryAfterMs(%s) returns %d ms', (value, ms) => {
  expect(retryAfterMs(value, now)).toBe(ms);
});

it.each([
  '',
  '-1',
  '1.5',
  '1e3',
  'soon',
  '2026-11-22',
  '2026-11-22T10:00:00Z',
  'Sun, 99 Nov 1994 08:49:37 GMT',
])('retryAfterMs(%j) returns undefined', (value) => {
  expect(retryAfterMs(value, now)).toBeUndefined();
});
