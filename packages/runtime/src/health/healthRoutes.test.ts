import { expect, onTestFinished, test, vi } from 'vitest';
import { healthRoutes, NotReadyError } from './healthRoutes.ts';

test('/readyz has the reason of the first failing check in the order of their definition', async () => {
  const checks = {
    ready: () => 'ready',
    first: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw new NotReadyError('cold');
    },
    second() {
      throw new Error('no');
    },
  };
  const { body } = await healthRoutes({ checks, isDraining: () => false })['/readyz']();
  expect(body).toBe('{"status":"unavailable","reason":"cold"}');
});

test('/readyz answers 503 with the name of a check that takes longer than 1 s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const checks = { cache: () => 'ready', database: () => new Promise(() => {}) };
  const response = healthRoutes({ checks, isDraining: () => false })['/readyz']();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await response).toMatchObject({ status: 503, body: expect.stringContaining('"database"') });
  expect(vi.getTimerCount()).toBe(0);
});
