import { expect, it } from 'vitest';
import { requestId } from './requestContext.ts';

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
