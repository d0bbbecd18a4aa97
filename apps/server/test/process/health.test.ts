import { StoreError } from '@petstore/core';
import { expect, test } from 'vitest';
import { startServerInProcess } from '../testing/startServerInProcess.ts';

test.each([
  ['is damaged', () => Promise.reject(new StoreError('damaged', 'a page is damaged')), 'damaged'],
  [
    'is unavailable',
    () => Promise.reject(new StoreError('unavailable', '10.0.0.1 timed out')),
    'unavailable',
  ],
  ['does not respond', () => new Promise<void>(() => {}), 'unavailable'],
  ['fails unexpectedly', () => Promise.reject(new TypeError('x is not a function')), 'unknown'],
])(
  '/readyz answers 503 with a one-word reason if the store %s, and /healthz 200',
  async (_, ready, reason) => {
    const { origin } = await startServerInProcess({}, () => ({ ready }));
    const response = await fetch(`${origin}/readyz`);
    expect([response.status, await response.json()]).toEqual([503, { status: 'unavailable', reason }]);
    const headers = ['cache-control', 'retry-after'].map((name) => response.headers.get(name));
    expect(headers).toEqual(['no-store', '1']);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  },
);
