import { spawnSync } from 'node:child_process';
import { freePort } from '@petstore/testing/freePort';
import { expect, test, vi } from 'vitest';
import { curlLines, firstColumn, newSnippets, printedBy, readReadme } from './readme.ts';

const readme = await readReadme('packages/gateway/README.md');
const noCurl = spawnSync('curl', ['--version']).error !== undefined;
if (noCurl) process.stderr.write('SKIPPED: curl lines of the gateway’s readme: this machine has no curl.\n');

/** The programs of the readme by the name that their first line says, on a port. */
function programs(port: number): Readonly<Record<string, string>> {
  const blocks = [...readme.blocks('ts'), ...readme.blocks('diff')];
  return Object.fromEntries(
    blocks.map((block) => [/^\/\/ (.*)$/m.exec(block)?.[1] ?? '', block.replaceAll('3000', String(port))]),
  );
}

/** A folder with the programs, on a free port. */
async function written() {
  const port = await freePort();
  const snippets = await newSnippets();
  await snippets.write(programs(port));
  return { ...snippets, port, origin: `http://127.0.0.1:${port}` };
}

// A compiler and several processes, on a machine that may have no core to spare.
vi.setConfig({ testTimeout: 180_000 });

test('names each of its programs', () => {
  expect(Object.keys(programs(3000))).toEqual([
    'router.ts',
    'server.ts',
    'client.ts',
    'inProcess.ts',
    'withKeys.ts',
    'jwts.ts',
    'scopes.ts',
    'limits.ts',
    'production.ts',
    'exports.ts',
    'orders.ts',
    'fieldErrors.ts',
    'tenants.ts',
    'hooks.ts',
    'webhooks.ts',
    'payments.ts',
    'sharedLimits.ts',
    'retries.ts',
    'fromTrpcToOpenapi.ts',
    'fromStandalone.ts',
  ]);
});

test('the programs in the readme of @petstore/gateway compile, and the server in that of @petstore/runtime', async () => {
  const { write, compile } = await written();
  const [service = ''] = (await readReadme('packages/runtime/README.md')).blocks('ts');
  await write({
    'service.ts': service,
    'database.ts':
      'export const openDatabase = async () => ({ ping: async () => {}, close: async () => {} });',
  });
  await expect(compile()).resolves.toBeUndefined();
});

test('its server and client run, and its curl lines answer what stands below them', async () => {
  const { start, run, shell, port } = await written();
  await start('server.ts', port);
  for (const client of ['client.ts', 'retries.ts']) {
    expect(await run(client)).toBe(`${printedBy(programs(port)[client] ?? '')}\n`);
  }
  const lines = curlLines(readme);
  expect(lines.length).toBeGreaterThan(3);
  for (const [line, printed] of noCurl ? [] : lines) {
    expect([line, await shell(line.replace('3000', String(port)))]).toEqual([line, printed]);
  }
});

test('its production server, of at most 30 lines, has health, metrics and a docs page', async () => {
  const { write, start, port, origin } = await written();
  const { 'production.ts': program = '' } = programs(port);
  expect(program.split('\n').length).toBeLessThanOrEqual(30);
  const adminPort = await freePort();
  // One process: with workers it listens before all of them have started, and they outlive the folder.
  const replaced = program.replace('9090', String(adminPort)).replace('workers: 2', 'workers: 1');
  await write({ 'production.ts': replaced });
  await start('production.ts', port);
  expect(await (await fetch(`${origin}/v1/books/1`)).json()).toEqual({ id: 1, title: 'Middlemarch' });
  expect(await (await fetch(`${origin}/docs`)).text()).toContain('docs/scalar.js');
  const admin = `http://127.0.0.1:${adminPort}`;
  expect(await (await fetch(`${admin}/readyz`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${admin}/metrics`)).text()).toContain(
    'gateway_calls_total{protocol="rest",operation="book"} 1\n',
  );
});

test('its gateway.fetch answers a client without a port', async () => {
  const { run, port } = await written();
  expect(await run('inProcess.ts')).toBe(`${printedBy(programs(port)['inProcess.ts'] ?? '')}\n`);
});

test('its keys let in whom they name', async () => {
  const { start, port, origin } = await written();
  await start('withKeys.ts', port);
  const me = (headers: Record<string, string>) => fetch(`${origin}/v1/me`, { headers });
  expect((await me({})).status).toBe(401);
  const response = await me({ authorization: 'Bearer the-key-of-ada' });
  expect(response.headers.get('cache-control')).toBe('private');
  expect(await response.json()).toEqual({ name: 'Ada' });
  expect((await fetch(`${origin}/v1/health`)).status).toBe(200);
});

test('its scopes.ts answers a key with the scope', async () => {
  const { start, port, origin } = await written();
  await start('scopes.ts', port);
  const headers = { authorization: 'Bearer the-key-of-ada', 'content-type': 'application/json' };
  const received = await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body: '{"name":"Rex"}' });
  expect([received.status, await received.json()]).toEqual([200, { name: 'Rex' }]);
});

test('its limits.ts answers a health check, counts calls, and answers 202 where the procedure sets it', async () => {
  const { start, port, origin } = await written();
  await start('limits.ts', port);
  const health = await fetch(`${origin}/healthz`);
  expect([health.status, await health.text()]).toEqual([200, 'ok']);
  const importRows = (rows: number, key: string) =>
    fetch(`${origin}/v1/imports`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ rows }),
    });
  const small = await importRows(1, 'the-key-of-ada');
  expect([small.status, small.headers.get('ratelimit-policy')]).toEqual([201, '"default";q=100;w=60']);
  expect((await importRows(1000, 'the-key-of-ada')).status).toBe(202);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1) statuses.push((await importRows(1, 'x')).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
});

test('its exports.ts answers the media type that is accepted, and each status with its own schema', async () => {
  const { start, port, origin } = await written();
  await start('exports.ts', port);
  const pets = await fetch(`${origin}/v1/pets`, { headers: { accept: 'text/csv' } });
  expect([pets.headers.get('content-type'), await pets.text()]).toEqual(['text/csv', '1,Rex\n']);
  const adopt = async (id: number) => {
    const response = await fetch(`${origin}/v1/pets/${id}/adoption`, { method: 'POST' });
    return [response.status, await response.json()];
  };
  expect([await adopt(1), await adopt(2)]).toEqual([
    [200, { id: 1, name: 'Rex' }],
    [202, { jobId: 'a' }],
  ]);
});

const sendOrder = async (origin: string, body: object) => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${origin}/v1/orders`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
};

test('its orders.ts answers an order that is too large with the declared error and what is left', async () => {
  const { start, port, origin } = await written();
  await start('orders.ts', port);
  expect(await sendOrder(origin, { count: 1 })).toEqual([200, { id: 1 }]);
  const error = { code: 'OUT_OF_STOCK', message: 'Too few are left.', status: 409, data: { left: 2 } };
  expect(await sendOrder(origin, { count: 3 })).toEqual([409, error]);
});

test('the error format in its fieldErrors.ts answers the fields of an invalid order', async () => {
  const { start, port, origin } = await written();
  await start('fieldErrors.ts', port);
  expect(await sendOrder(origin, { email: 'ada', count: 0 })).toEqual([
    400,
    {
      message: expect.stringMatching(/^email: .*; count: must be at least 1\.$/),
      fields: [
        { name: 'email', reason: 'invalid_format' },
        { name: 'count', reason: 'too_small' },
      ],
    },
  ]);
});

test('who comes from trpc-to-openapi keeps the paths and the body of errors', async () => {
  const { start, port, origin } = await written();
  await start('fromTrpcToOpenapi.ts', port);
  expect(await (await fetch(`${origin}/api/books/1`)).json()).toEqual({ id: 1, title: 'Middlemarch' });
  expect(await (await fetch(`${origin}/api/books/7`)).json()).toEqual({
    message: 'No such book.',
    code: 'NOT_FOUND',
  });
});

test('who comes from the standalone adapter keeps the path, and lets pages call', async () => {
  const { start, port, origin } = await written();
  await start('fromStandalone.ts', port);
  const headers = { origin: 'https://books.example' };
  const response = await fetch(`${origin}/trpc/book?input=${encodeURIComponent('{"id":1}')}`, { headers });
  expect(response.headers.get('access-control-allow-origin')).toBe('https://books.example');
  expect(await response.json()).toEqual({ result: { data: { id: 1, title: 'Middlemarch' } } });
});

test('the base path of the standalone adapter can be kept: /', async () => {
  const { start, write, port, origin } = await written();
  await write({
    'plain.ts': `
      import { createGateway } from '@petstore/gateway';
      import { serve } from '@petstore/gateway/uws';
      import { initTRPC } from '@trpc/server';
      const t = initTRPC.create();
      const router = t.router({ ping: t.procedure.query(() => 'pong') });
      const document = { title: 'Plain', version: '1.0.0' };
      await serve(await createGateway({ router, createContext: () => ({}), rpcBasePath: '/', document }), { port: ${port} });
    `,
  });
  await start('plain.ts', port);
  expect(await (await fetch(`${origin}/ping`)).json()).toEqual({ result: { data: 'pong' } });
});

test('its tables have every field of REST metadata and every option, and no other', async () => {
  const { write, compile } = await written();
  const listed = (heading: string) =>
    JSON.stringify(Object.fromEntries(firstColumn(readme, heading).map((name) => [name, true])));
  await write({
    'tables.ts': `
      import type { GatewayOptions, RestMeta } from '@petstore/gateway';
      import type { appRouter } from './router.ts';
      export const fields: Record<keyof RestMeta, true> = ${listed('REST metadata')};
      export const options: Record<keyof GatewayOptions<typeof appRouter, string>, true> = ${listed('Options of createGateway')};
    `,
  });
  await expect(compile()).resolves.toBeUndefined();
});
