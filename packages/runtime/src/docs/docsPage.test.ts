import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Listening } from 'trpc-gateway/serve';
import { loadAdapter } from '../adapter.ts';
import { docsPage } from './docsPage.ts';

/** Returns the handler of a route of the docs page. */
function pageAt(path: `/${string}`) {
  const page = docsPage()[path];
  if (page === undefined) throw new Error(`The docs page has no ${path}.`);
  return page;
}

describe('the files of the docs page', () => {
  let listening: Listening;
  const send = (headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`http://127.0.0.1:${listening.port}`, {
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
    });

  beforeAll(async () => {
    const { serve } = await loadAdapter();
    listening = await serve({ handle: pageAt('/docs/scalar.js') }, { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => listening.close());

  test.for([
    ['gzip, deflate, br, zstd', 'gzip'],
    ['identity', null],
    ['gzip;q=0', null],
    ['', null],
  ] as const)('a docs file for Accept-Encoding %j has Content-Encoding %s', async ([accepted, encoding]) => {
    const { headers } = await send({ 'accept-encoding': accepted });
    expect(headers.get('content-encoding')).toBe(encoding);
    expect(headers.get('vary')).toBe('Accept-Encoding');
  });

  test('a docs file has the same content in both encodings, an ETag per encoding, and compresses to less than a third', async () => {
    const [identity, gzipped] = [await send(), await send({ 'accept-encoding': 'gzip' })];
    const text = await identity.text();
    // Decoded by fetch.
    expect((await gzipped.text()) === text).toBe(true);
    expect(Number(gzipped.headers.get('content-length'))).toBeLessThan(Buffer.byteLength(text) / 3);
    expect(gzipped.headers.get('etag')).not.toBe(identity.headers.get('etag'));
  });

  test('a docs file has Cache-Control: no-cache, and If-None-Match with its ETag gets 304', async () => {
    const { headers } = await send();
    const tag = headers.get('etag') ?? '';
    expect(headers.get('cache-control')).toBe('no-cache');
    for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const response = await send({ 'if-none-match': held });
      expect([held, response.status, await response.text()]).toEqual([held, 304, '']);
      expect(response.headers.get('etag')).toBe(tag);
    }
    for (const held of ['"other"', tag.slice(0, -1)]) {
      expect((await send({ 'if-none-match': held })).status).toBe(200);
    }
  });

  test('HEAD of a docs file has the headers of GET', async () => {
    const get = await send({ 'accept-encoding': 'gzip' });
    const head = await send({ 'accept-encoding': 'gzip' }, 'HEAD');
    expect(await head.text()).toBe('');
    for (const name of ['etag', 'content-encoding', 'content-length', 'content-type', 'cache-control']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });
});

test('the docs page has a policy that allows only scripts of its host, no requests to others and no framing', async () => {
  const { serve } = await loadAdapter();
  const listening = await serve({ handle: pageAt('/docs') }, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => void listening.close());
  const page = await fetch(`http://127.0.0.1:${listening.port}/docs`);
  const policy = (page.headers.get('content-security-policy') ?? '').split('; ');
  expect(policy).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ]),
  );
  expect(policy.join()).not.toMatch(/unsafe-eval|https?:|\*/);
  expect(await page.text()).not.toMatch(/(?:src|href)="(?:\w+:)?\/\//);
});
