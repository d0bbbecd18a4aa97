import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { serve } from '@petstore/gateway/uws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPageFiles } from './pageFiles.ts';
import { writePage } from './writePage.ts';

interface ReceivedResponse {
  readonly status: number | undefined;
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
}

describe('the files of the docs page, as they are built', () => {
  const cleanUp: (() => Promise<unknown>)[] = [];
  let port = 0;
  const send = (sent: Record<string, string> = {}, method = 'GET') =>
    new Promise<ReceivedResponse>((resolve, reject) => {
      request({ port, host: '127.0.0.1', method, headers: sent, agent: false }, (response) => {
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
      })
        .on('error', reject)
        .end();
    });

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runtime-docs-'));
    cleanUp.push(() => rm(folder, { recursive: true, force: true }));
    const url = pathToFileURL(`${folder}/`);
    await writePage(url);
    const pageFile = createPageFiles(url);
    const host = await serve(
      { handle: (asked) => pageFile(asked, 'scalar.js', 'text/javascript; charset=utf-8') },
      { host: '127.0.0.1', port: 0 },
    );
    cleanUp.unshift(() => host.close());
    ({ port } = host);
  });
  afterAll(async () => {
    for (const each of cleanUp) await each();
  });

  test.for([
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['deflate', undefined],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['', undefined],
  ] as const)('are encoded as a request that accepts %j likes best: %s', async ([accepted, encoding]) => {
    const { header } = await send({ 'accept-encoding': accepted });
    expect(header('content-encoding')).toBe(encoding);
    expect(header('vary')).toBe('Accept-Encoding');
  });

  test('are the same in every encoding, with a tag of each, and compressed to a third', async () => {
    const [plain, gzipped, brotli] = [
      await send(),
      await send({ 'accept-encoding': 'gzip' }),
      await send({ 'accept-encoding': 'br' }),
    ];
    expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    expect(gzipped.body.length).toBeLessThan(plain.body.length / 3);
    expect(brotli.body.length).toBeLessThan(gzipped.body.length);
    expect(new Set([plain, gzipped, brotli].map(({ header }) => header('etag'))).size).toBe(3);
  });

  test('are asked for anew each time, and sent only where they have changed', async () => {
    const { header } = await send();
    const tag = header('etag') ?? '';
    expect(header('cache-control')).toBe('no-cache');
    for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const { status, body, header: said } = await send({ 'if-none-match': held });
      expect({ held, status, length: body.length }).toEqual({ held, status: 304, length: 0 });
      expect(said('etag')).toBe(tag);
    }
    for (const held of ['"other"', tag.slice(0, -1)]) {
      expect((await send({ 'if-none-match': held })).status).toBe(200);
    }
  });

  test('are described to HEAD as to GET', async () => {
    const get = await send({ 'accept-encoding': 'br' });
    const head = await send({ 'accept-encoding': 'br' }, 'HEAD');
    expect(head.body).toHaveLength(0);
    for (const name of ['etag', 'content-encoding', 'content-length', 'content-type', 'cache-control']) {
      expect(head.header(name)).toBe(get.header(name));
    }
  });
});
