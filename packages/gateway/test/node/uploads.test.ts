import { once } from 'node:events';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '@petstore/gateway';
import { fileStream, type GatewayMeta } from '@petstore/gateway/meta';
import { temporaryFiles, temporaryPath } from '@petstore/gateway/node';
import { longForm } from '@petstore/testing/forms';
import { initTRPC } from '@trpc/server';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { adapterOfRun } from '../adapters.ts';
import { type Server } from '../listen.ts';
import { serve } from '../servers.ts';

/** Large uploads, streamed and spooled to temporary files. */

const mebibyte = 1024 * 1024;
const size = (longForm ? 200 : 40) * mebibyte;
const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const adapter = adapterOfRun();

let directory: string;
let server: Server;

const form = 'multipart/form-data';
const upload = { maxBytes: 2 * size, spool: true };
const router = t.router({
  stream: t.procedure
    .meta({ openapi: { method: 'POST', path: '/stream', upload: { maxBytes: 2 * size } } })
    .input(z.object({ files: fileStream() }))
    .output(z.int())
    .mutation(async ({ input }) => {
      let received = 0;
      for await (const { stream } of input.files) {
        for await (const chunk of stream()) received += chunk.byteLength;
      }
      return received;
    }),
  spool: t.procedure
    .meta({ openapi: { method: 'POST', path: '/spool', contentTypes: [form], upload } })
    .input(z.object({ file: z.file() }))
    .output(z.int())
    .mutation(({ input }) => input.file.size),
  move: t.procedure
    .meta({ openapi: { method: 'POST', path: '/move', contentTypes: [form], upload } })
    .input(z.object({ file: z.file() }))
    .output(z.string())
    .mutation(async ({ input: { file } }) => {
      const path = temporaryPath(file) ?? '';
      const { mode } = await stat(path);
      await rename(path, join(directory, 'moved'));
      return `${file.name} ${file.type} ${(mode % 512).toString(8)}`;
    }),
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uploads-'));
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Uploads', version: '1.0.0' },
    spool: temporaryFiles(directory),
  });
  server = await serve(gateway);
});
afterAll(async () => {
  await server.close({ graceMs: 0 });
  await rm(directory, { recursive: true });
});
beforeEach(async () => {
  await Promise.all((await readdir(directory)).map((name) => rm(join(directory, name), { force: true })));
});

const headers = { 'content-type': `${form}; boundary=b` };
const chunk = new Uint8Array(65_536).fill(120);

/** A form with one file, which ends after its bytes, or never. */
async function* body(field: string, bytes: number, isWhole = true): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  yield encoder.encode(
    `--b\r\nContent-Disposition: form-data; name="${field}"; filename="a.bin"\r\nContent-Type: image/png\r\n\r\n`,
  );
  for (let left = bytes; left > 0; left -= chunk.length) yield chunk;
  if (!isWhole) await new Promise(() => {});
  yield encoder.encode('\r\n--b--\r\n');
}

/** Sends it with little memory of its own: over a port by node:http, without copies. */
async function send(
  path: string,
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
): Promise<readonly [number, string]> {
  if (adapter === 'fetch') {
    const init = { method: 'POST', headers, body: ReadableStream.from(chunks), duplex: 'half' } as const;
    const response = await server.fetch(`${server.origin}/v1${path}`, init);
    return [response.status, await response.text()];
  }
  const sent = request({ port: server.port, host: '127.0.0.1', method: 'POST', path: `/v1${path}`, headers });
  const answered = once(sent, 'response');
  for await (const bytes of chunks) if (!sent.write(bytes)) await once(sent, 'drain');
  sent.end();
  const [response] = (await answered) as [AsyncIterable<Buffer> & { statusCode: number }];
  let text = '';
  for await (const piece of response) text += piece.toString();
  return [response.statusCode, text];
}

/** Over a port, chunks that were read wait for the garbage collector: 1 to 49 MB were seen, whatever the size of the form. */
const bound = adapter === 'fetch' ? 30 : 64;

it.each([
  ['that a procedure reads as a stream', '/stream', 'files'],
  ['that is spooled to a temporary file', '/spool', 'file'],
])(`a form of ${size / mebibyte} MB %s takes less than ${bound} MB of memory`, async (_name, path, field) => {
  // Code is compiled, and buffers are allocated, by the first.
  expect(await send(path, body(field, 8 * mebibyte))).toEqual([200, String(8 * mebibyte)]);
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  const began = performance.now();
  const answer = await send(path, body(field, size));
  clearInterval(timer);
  const growth = (most - before) / 1e6;
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(
    `${adapter} ${path}: ${size / mebibyte} MiB in ${seconds.toFixed(2)} s, RSS + ${growth.toFixed(1)} MB\n`,
  );
  expect(answer).toEqual([200, String(size)]);
  expect(growth).toBeLessThan(bound);
});

it('a temporary file is removed once its call has ended', async () => {
  expect((await send('/spool', body('file', mebibyte)))[0]).toBe(200);
  await vi.waitFor(async () => expect(await readdir(directory)).toEqual([]));
});

it('a temporary file can be moved, and is readable by its user alone', async () => {
  expect(await send('/move', body('file', mebibyte))).toEqual([200, '"a.bin image/png 600"']);
  expect((await stat(join(directory, 'moved'))).size).toBe(mebibyte);
});

it('a temporary file is gone when its client has disconnected in the middle', async () => {
  const abort = new AbortController();
  const init = { method: 'POST', headers, duplex: 'half', signal: abort.signal } as const;
  const sent = ReadableStream.from(body('file', mebibyte, false));
  const response = server.fetch(`${server.origin}/v1/spool`, { ...init, body: sent });
  response.catch(() => {});
  const received = async () => {
    const [name] = await readdir(directory);
    return name === undefined ? 0 : (await stat(join(directory, name))).size;
  };
  await vi.waitFor(async () => expect(await received()).toBeGreaterThan(mebibyte / 2));
  abort.abort();
  await expect(response).rejects.toMatchObject({ name: 'AbortError' });
  await vi.waitFor(async () => expect(await readdir(directory)).toEqual([]));
});
