import { StoreError } from '@petstore/core';
import { describe, expect, test } from 'vitest';
import { healthRoutes } from 'trpc-gateway-runtime/health';
import { storeChecks } from '../../src/store/storeFailure.ts';
import { startServerInProcess } from '../testing/startServerInProcess.ts';

describe('/readyz of a process that is not ready', () => {
  test('/readyz of a server answers 503 while its store is not ready, and /healthz 200', async () => {
    const away = new StoreError('unavailable', '10.0.0.1 timed out');
    const { origin } = await startServerInProcess({}, () => ({ ready: () => Promise.reject(away) }));
    const response = await fetch(`${origin}/readyz`);
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'unavailable', reason: 'unavailable' },
    ]);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  });

  test.each([
    ['the store is damaged', new StoreError('damaged', 'a page of /data/x is damaged'), false, 'damaged'],
    ['the store is unavailable', new StoreError('unavailable', '10.0.0.1 timed out'), false, 'unavailable'],
    ['the store does not respond', new Promise<void>(() => {}), false, 'unavailable'],
    ['the store fails unexpectedly', new TypeError('x is not a function'), false, 'unknown'],
    ['the process is stopping', undefined, true, 'draining'],
  ])('/readyz answers 503 with a one-word reason if %s', async (_, storeError, draining, reason) => {
    const ready = () => {
      if (storeError instanceof Error) throw storeError;
      return storeError;
    };
    const routes = healthRoutes({ checks: storeChecks({ ready }), isDraining: () => draining });
    expect(await routes['/readyz']()).toEqual({
      status: 503,
      headers: [
        ['content-type', 'application/json'],
        ['cache-control', 'no-store'],
        ['retry-after', '1'],
      ],
      body: JSON.stringify({ status: 'unavailable', reason }),
    });
    expect(routes['/healthz']()).toEqual({
      status: 200,
      headers: [
        ['content-type', 'application/json'],
        ['cache-control', 'no-store'],
      ],
      body: JSON.stringify({ status: 'ok' }),
    });
  });
});
