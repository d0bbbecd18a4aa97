import { expect, it } from 'vitest';
import { z } from 'zod';
import { t, testGateway } from '../testing/testGateway.ts';
import { requestId } from './requestContext.ts';

it.each(['/v1/look', '/trpc/look', '/trpc/look?batch=1'])(
  'GET %s provides an aborted signal to the procedure if the client disconnected before the signal was first read',
  async (target) => {
    const seen: unknown[] = [];
    const gateway = await testGateway(
      t.router({
        look: t.procedure
          .meta({ openapi: { method: 'GET', path: '/look' } })
          .output(z.void())
          .query(({ signal }) => void seen.push(signal?.aborted)),
      }),
    );
    await gateway.fetch(new Request(`http://localhost${target}`, { signal: AbortSignal.abort() }));
    expect(seen).toEqual([true]);
  },
);

it('requestId without a header returns a new printable id each time', () => {
  const ids = new Set(Array.from({ length: 11_000 }, () => requestId(undefined)));
  expect(ids.size).toBe(11_000);
  const [first = '', last = ''] = [ids.values().next().value, [...ids].at(-1)];
  for (const id of [first, last]) expect(id).toMatch(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{9}[0-9]{3}$/);
  expect(last.slice(0, 33)).not.toBe(first.slice(0, 33));
});

it.each(['a', 'A-1._~:+/=', 'x'.repeat(128)])('requestId returns the valid X-Request-Id %s', (id) => {
  expect(requestId(id)).toBe(id);
});

it.each(['', 'a b', 'a\nb', 'ü', 'a,b', 'x'.repeat(129)])(
  'requestId replaces the invalid X-Request-Id %j',
  (id) => {
    expect(requestId(id)).toMatch(/^[0-9a-f-]{36}$/);
  },
);
