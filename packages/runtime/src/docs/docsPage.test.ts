import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Listening } from 'trpc-gateway/serve';
import { loadAdapter } from '../adapter.ts';
import { docsPage } from './docsPage.ts';

interface FileResponse {
  readonly status: number | undefined;
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
}

describe('the files of the docs page', () => {
  let listening: Listening;
  const send = (sent: Record<string, string> = {}, method = 'GET') =>
    new Promise<FileResponse>((resolve, reject) => {
      request(
        { port: listening.port, host: '127.0.0.1', method, headers: sent, agent: false },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode,
              header: (name) => response.headers[name] as string | undefined,
              body: Buffer.concat(chunks),
            }),
          );
        },
      )
        .on('error', reject)
        .end();
    });

  beforeAll(async () => {
    const scalar = docsPage()['/docs/scalar.js'];
    if (scalar === undefined) throw new Error('The docs page has no scalar.js.');
    const { serve } = await loadAdapter();
    listening = await serve({ handle: scalar }, { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => listening.close());

  test.for([
    ['gzip, deflate, br, zstd', 'gzip'],
    ['br, gzip;q=0.5', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['deflate', undefined],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['', undefined],
  ] as const)('a docs file for Accept-Encoding %j has Content-Encoding %s', async ([accepted, encoding]) => {
    const { header } = await send({ 'accept-encoding': accepted });
    expect(header('content-encoding')).toBe(encoding);
    expect(header('vary')).toBe('Accept-Encoding');
  });

  test('a docs file has the same content in both encodings, an ETag per encoding, and compresses to less than a third', async () => {
    const [identity, gzipped] = [await send(), await send({ 'accept-encoding': 'gzip' })];
    expect(gunzipSync(gzipped.body).equals(identity.body)).toBe(true);
    expect(gzipped.body.length).toBeLessThan(identity.body.length / 3);
    expect(gzipped.header('etag')).not.toBe(identity.header('etag'));
  });

  test('a docs file has Cache-Control: no-cache, and If-None-Match with its ETag gets 304', async () => {
    const { header } = await send();
    const tag = header('etag') ?? '';
    expect(header('cache-control')).toBe('no-cache');
    for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const { status, body, header: notModifiedHeader } = await send({ 'if-none-match': held });
      expect({ held, status, length: body.length }).toEqual({ held, status: 304, length: 0 });
      expect(notModifiedHeader('etag')).toBe(tag);
    }
    for (const held of ['"other"', tag.slice(0, -1)]) {
      expect((await send({ 'if-none-match': held })).status).toBe(200);
    }
  });

  test('HEAD of a docs file has the headers of GET', async () => {
    const get = await send({ 'accept-encoding': 'gzip' });
    const head = await send({ 'accept-encoding': 'gzip' }, 'HEAD');
    expect(head.body).toHaveLength(0);
    for (const name of ['etag', 'content-encoding', 'content-length', 'content-type', 'cache-control']) {
      expect(head.header(name)).toBe(get.header(name));
    }
  });
});
