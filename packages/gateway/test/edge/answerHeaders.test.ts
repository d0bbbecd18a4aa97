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
      const { ask } = await startEdge();
      const answer = await ask(target, authorization === undefined ? {} : { headers: { authorization } });
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toBe(cacheControl);
      expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
      await answer.body?.cancel();
    },
  );

  it('has a header once that its page has set', async () => {
    const { ask } = await startEdge({
      routes: {
        '/page': () => ({ status: 200, headers: [['X-Content-Type-Options', 'nosniff']], body: '' }),
      },
    });
    expect((await ask('/page')).headers.get('x-content-type-options')).toBe('nosniff');
  });
});
