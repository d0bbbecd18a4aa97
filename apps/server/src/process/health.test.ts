import { StoreError } from '@petstore/core';
import { describe, expect, test } from 'vitest';
import { healthRoutes } from 'trpc-gateway-runtime/health';
import { storeChecks } from '../store/storeFailure.ts';
import { sharedServer } from '../testing/newFolder.ts';
import { startServerInProcess } from '../testing/startServerInProcess.ts';

const json = async (response: Response) => ({
  status: response.status,
  type: response.headers.get('content-type'),
  cache: response.headers.get('cache-control'),
  body: await response.json(),
});

describe('health routes without a credential', () => {
  const server = sharedServer();
  test.for(['/healthz', '/readyz'])('%s is 200 while the process serves', async (path) => {
    expect(await json(await fetch(server.origin + path))).toEqual({
      status: 200,
      type: 'application/json',
      cache: 'no-store',
      body: { status: 'ok' },
    });
  });
});

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
    expect(routes['/healthz']()).toMatchObject({ status: 200 });
  });
});
