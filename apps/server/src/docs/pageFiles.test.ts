import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { serve } from '@petstore/gateway/uws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writePage } from '../../scripts/writePage.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { createPageFiles } from './pageFiles.ts';

const headers = { authorization: `Bearer ${apiKey}` };

describe('the docs page', () => {
  test('is where links of deprecated operations lead, and /, without a credential', async () => {
    const { serve: start } = await newFolder();
    const { origin } = await start({ env: { API_KEY: apiKey } });
    const { headers: linking } = await fetch(`${origin}/v1/pets/1`, { headers });
    const [, target] = /<([^>]*)>; rel="deprecation"/.exec(linking.get('link') ?? '') ?? [];
    const page = await fetch(new URL(target ?? '', origin));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const root = await fetch(`${origin}/`, { redirect: 'manual' });
    expect(root.status).toBe(302);
    expect(root.headers.get('location')).toBe('docs');
    expect(await (await fetch(`${origin}/`)).text()).toBe(await page.text());
  });

  test('may run no script but those of its host, load nothing from another, and be framed by none', async () => {
    const { serve: start } = await newFolder();
    const { origin } = await start({ env: { API_KEY: apiKey } });
    const page = await fetch(`${origin}/docs`);
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

  test('has the scripts that it names, from the sources too', async () => {
    const { serve: start } = await newFolder();
    const { origin } = await start({ env: { API_KEY: apiKey } });
    const page = await (await fetch(`${origin}/docs`)).text();
    const scripts = [...page.matchAll(/<script src="([^"]*)"/g)].map(([, source = '']) => source);
    expect(scripts).toHaveLength(2);
    for (const source of scripts) {
      const answer = await fetch(new URL(source, `${origin}/docs`));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(await answer.text()).toContain('createApiReference');
    }
  });
});

interface Answer {
  readonly status: number | undefined;
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
}

describe('the files of the docs page, as they are built', () => {
  const cleanUp: (() => Promise<unknown>)[] = [];
  let port = 0;
  const ask = (sent: Record<string, string> = {}, method = 'GET') =>
    new Promise<Answer>((resolve, reject) => {
      request({ port, host: '127.0.0.1', method, headers: sent, agent: false }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode,
            header: (name) => answer.headers[name] as string | undefined,
            body: Buffer.concat(chunks),
          }),
        );
      })
        .on('error', reject)
        .end();
    });

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-docs-'));
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
    const { header } = await ask({ 'accept-encoding': accepted });
    expect(header('content-encoding')).toBe(encoding);
    expect(header('vary')).toBe('Accept-Encoding');
  });

  test('are the same in every encoding, with a tag of each, and compressed to a third', async () => {
    const [plain, gzipped, brotli] = [
      await ask(),
      await ask({ 'accept-encoding': 'gzip' }),
      await ask({ 'accept-encoding': 'br' }),
    ];
    expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    expect(gzipped.body.length).toBeLessThan(plain.body.length / 3);
    expect(brotli.body.length).toBeLessThan(gzipped.body.length);
    expect(new Set([plain, gzipped, brotli].map(({ header }) => header('etag'))).size).toBe(3);
  });

  test('are asked for anew each time, and sent only where they have changed', async () => {
    const { header } = await ask();
    const tag = header('etag') ?? '';
    expect(header('cache-control')).toBe('no-cache');
    for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const { status, body, header: said } = await ask({ 'if-none-match': held });
      expect({ held, status, length: body.length }).toEqual({ held, status: 304, length: 0 });
      expect(said('etag')).toBe(tag);
    }
    for (const held of ['"other"', tag.slice(0, -1)]) {
      expect((await ask({ 'if-none-match': held })).status).toBe(200);
    }
  });

  test('are described to HEAD as to GET', async () => {
    const get = await ask({ 'accept-encoding': 'br' });
    const head = await ask({ 'accept-encoding': 'br' }, 'HEAD');
    expect(head.body).toHaveLength(0);
    for (const name of ['etag', 'content-encoding', 'content-length', 'content-type', 'cache-control']) {
      expect(head.header(name)).toBe(get.header(name));
    }
  });
});
