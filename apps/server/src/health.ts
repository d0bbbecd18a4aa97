import { type Store, StoreError } from '@petstore/core';
import type { HttpResponse } from '@petstore/gateway';

export interface HealthOptions {
  readonly store: Pick<Store, 'ready'>;
  /** Whether the process is on its way out. */
  readonly isDraining: () => boolean;
}

/**
 * `/healthz`: the process lives. `/readyz`: it can serve, or 503 with one word that says why not.
 */
export function healthRoutes({ store, isDraining }: HealthOptions) {
  return {
    '/healthz': (): HttpResponse => answer(200, { status: 'ok' }),
    '/readyz': async (): Promise<HttpResponse> => {
      if (isDraining()) return unavailable('draining');
      try {
        await store.ready();
      } catch (error) {
        return unavailable(error instanceof StoreError ? error.code : 'unknown');
      }
      return answer(200, { status: 'ok' });
    },
  };
}

const unavailable = (reason: string) => answer(503, { status: 'unavailable', reason }, ['retry-after', '1']);

function answer(
  status: number,
  body: object,
  ...headers: (readonly [name: string, value: string])[]
): HttpResponse {
  return {
    status,
    headers: [['content-type', 'application/json'], ['cache-control', 'no-store'], ...headers],
    body: JSON.stringify(body),
  };
}
