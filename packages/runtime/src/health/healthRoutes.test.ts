import { expect, onTestFinished, test, vi } from 'vitest';
import { healthRoutes } from './healthRoutes.ts';

test('/readyz answers 503 with the name of a check that takes longer than 1 s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const checks = { cache: () => 'ready', database: () => new Promise(() => {}) };
  const response = healthRoutes({ checks, isDraining: () => false })['/readyz']();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await response).toMatchObject({ status: 503, body: expect.stringContaining('"database"') });
  expect(vi.getTimerCount()).toBe(0);
});
