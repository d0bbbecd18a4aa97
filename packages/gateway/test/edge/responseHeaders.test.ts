import { describe, expect, it } from 'vitest';
import { startEdge } from './startEdge.ts';

describe('every answer', () => {
  it.each<[target: string, authorization: string | undefined, cacheControl: string | null]>([
    ['/v1/list', undefined, 'no-store'],
    ['/v1/list', '', 'no-store'],
    ['/v1/nowhere', undefined, 'no-store'],
    ['/v1/broken', undefined, 'no-store'],
    ['/trpc/list', undefined, 'no-store'],
    ['/trpc/list', '', 'no-store'],
    ['/v1/ticks', undefined, 'no-cache, no-transform'],
    ['/trpc/ticks', undefined, 'no-cache, no-transform'],
    ['/v1/open', undefined, 'no-store'],
    ['/v1/open', '', null],
    ['/trpc/open', '', null],
    ['/page', '', null],
    ['/openapi.json', '', null],
    ['/nowhere', '', null],
  ])(
    'of %s to "%s" is not sniffed, and cached as it may be: %s',
    async (target, authorization, cacheControl) => {
      const { send } = await startEdge();
      const response = await send(target, authorization === undefined ? {} : { headers: { authorization } });
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('cache-control')).toBe(cacheControl);
      expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
      await response.body?.cancel();
    },
  );

  it('has a header once that its page has set', async () => {
    const { send } = await startEdge({
      routes: {
        '/page': () => ({ status: 200, headers: [['X-Content-Type-Options', 'nosniff']], body: '' }),
      },
    });
    expect((await send('/page')).headers.get('x-content-type-options')).toBe('nosniff');
  });
});
