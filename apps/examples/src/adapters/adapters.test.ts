import { fileURLToPath } from 'node:url';
import { denoOptions, startFetchProgram } from '@petstore/testing/fetchProgram';
import { freePort } from '@petstore/testing/freePort';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { measured } from '@petstore/testing/slowness';
import { createTRPCClient, createWSClient, httpBatchLink, wsLink } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startOnPort } from '../startOnPort.ts';
import type { AppRouter } from './books.ts';
import { startLambda } from './lambda/standIn.ts';
import { startNext } from './next/standIn.ts';

type Start = (port: number) => Promise<() => Promise<unknown>>;

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Returns a function that starts an example as a process. */
const asProcess =
  (file: string, runtime = process.execPath, options = (_port: number): readonly string[] => []): Start =>
  async (port) => {
    const command = [runtime, ...options(port), '--conditions=trpc-gateway-source', pathOf(file)];
    const stop = await startOnPort(port, command);
    return () => stop('SIGTERM');
  };

const denoServe = (port: number) => [
  'serve',
  '--quiet',
  ...denoOptions,
  '--host=127.0.0.1',
  `--port=${port}`,
];

const servers: readonly (readonly [name: string, start: Start])[] = [
  ['Express', asProcess('express.ts')],
  ['Fastify', asProcess('fastify.ts')],
  [
    'Next',
    async (port) => {
      const server = await startNext(port);
      return () => server.close();
    },
  ],
  [
    'Lambda',
    async (port) => {
      const server = await startLambda(port);
      return () => server.close();
    },
  ],
  ['H3', asProcess('h3.ts')],
  ['Hono', asProcess('hono.ts')],
  ...runtimesToTest('bun').map(({ title, executable }) => [title, asProcess('bun.ts', executable)] as const),
  ...runtimesToTest('deno').map(
    ({ title, executable }) => [title, asProcess('deno.ts', executable, denoServe)] as const,
  ),
  ...runtimesToTest('workerd').map((runtime): readonly [string, Start] => [
    'Workers',
    async (port) => {
      const program = await startFetchProgram(runtime, pathOf('worker.ts'), { port });
      return () => program.close();
    },
  ]),
];

describe.each(servers)('the gateway in %s', (name, start) => {
  let origin: string;
  let stop: () => Promise<unknown>;
  beforeAll(async () => {
    const port = await freePort();
    stop = await start(port);
    origin = `http://127.0.0.1:${port}`;
  });
  afterAll(() => stop());

  it(`the gateway in ${name} serves REST and its document`, async () => {
    const post = await fetch(`${origin}/api/v1/books`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"title":"Emma"}',
    });
    const emma = (await post.json()) as { readonly id: number };
    expect([post.status, emma]).toEqual([201, { id: expect.any(Number) as number, title: 'Emma' }]);
    const get = await fetch(`${origin}/api/v1/books/${emma.id}`);
    expect([get.status, await get.json()]).toEqual([200, emma]);
    const document = (await (await fetch(`${origin}/api/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: '/api/v1' }]);
  });

  it(`the gateway in ${name} serves the docs page of its document`, async () => {
    const page = await fetch(`${origin}/api/docs`);
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const [, source = ''] = /<script src="([^"]*start\.js)" data-document="openapi\.json">/.exec(html) ?? [];
    const script = await fetch(new URL(source, page.url));
    expect([script.status, await script.text()]).toEqual([200, expect.stringContaining('documentUrl')]);
    const scalar = await fetch(new URL('docs/scalar.js', page.url));
    expect([scalar.status, await scalar.text()]).toEqual([
      200,
      expect.stringContaining('createApiReference'),
    ]);
  });

  it(`the gateway in ${name} serves a tRPC client`, async () => {
    const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: `${origin}/api/trpc` })] });
    const calls = [client.book.query({ id: 1 }), client.book.query({ id: 99 })];
    expect(await Promise.all(calls)).toEqual([{ id: 1, title: 'Middlemarch' }, undefined]);
  });

  it(`${name} keeps its own pages and its own 404`, async () => {
    // All paths below /api are the gateway's there.
    const isCatchAll = name === 'Next' || name === 'H3';
    const responses = ['/api/hello', '/elsewhere', isCatchAll ? '/other' : '/api/v2?a'].map(async (path) => {
      const response = await fetch(`${origin}${path}`);
      return [response.status, await response.text()];
    });
    expect(await Promise.all(responses)).toEqual([
      [200, `Hello from ${name}.`],
      [404, `${name} has no such page.`],
      [404, `${name} has no such page.`],
    ]);
    const nothing = await fetch(`${origin}/api/v1/nothing`);
    expect([nothing.status, await nothing.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  });

  it.runIf(name === 'Express' || name === 'Bun')(`the gateway in ${name} serves WebSockets`, async () => {
    const client = createWSClient({ url: `${origin.replace('http', 'ws')}/api/trpc` });
    onTestFinished(() => client.close());
    const { book } = createTRPCClient<AppRouter>({ links: [wsLink({ client })] });
    expect(await book.query({ id: 1 })).toEqual({ id: 1, title: 'Middlemarch' });
  });
});

it('Express, Fastify, H3 and Hono end within 8 s of SIGTERM although a client reads a stream of events', async () => {
  const seconds = ['express.ts', 'fastify.ts', 'h3.ts', 'hono.ts'].map(async (file) => {
    const port = await freePort();
    const stop = await asProcess(file)(port);
    const headers = { accept: 'text/event-stream' };
    const events = await fetch(`http://127.0.0.1:${port}/api/v1/news`, { headers });
    const read = events.text().catch(() => undefined);
    const stoppedAt = performance.now();
    await stop();
    await read;
    return (performance.now() - stoppedAt) / 1000;
  });
  expect(measured(Math.max(...(await Promise.all(seconds))))).toBeLessThan(8);
});
