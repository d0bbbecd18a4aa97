import { expect, test } from 'vitest';
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
