import { expect, it } from 'vitest';
import { validKey, startService } from '../startService.ts';

it.each<[target: string, authorization: string, cacheControl: string | null]>([
  ['/v1/list', validKey, 'no-store'],
  ['/v1/list', '', 'no-store'],
  ['/v1/nowhere', validKey, 'no-store'],
  ['/v1/broken', validKey, 'no-store'],
  ['/trpc/list', validKey, 'no-store'],
  ['/trpc/list', '', 'no-store'],
  ['/v1/ticks', validKey, 'no-cache, no-transform'],
  ['/trpc/ticks', validKey, 'no-cache, no-transform'],
  ['/v1/open', validKey, 'no-store'],
  ['/v1/open', '', null],
  ['/trpc/open', '', null],
  ['/page', '', null],
  ['/openapi.json', '', null],
  ['/nowhere', '', null],
])(
  'GET %s with the Authorization "%s" has X-Content-Type-Options: nosniff and Cache-Control: %s',
  async (target, authorization, cacheControl) => {
    const { send } = await startService();
    const response = await send(target, { headers: { authorization } });
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('cache-control')).toBe(cacheControl);
    expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    await response.body?.cancel();
  },
);
