import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { denoOptions, startFetchProgram } from '@petstore/testing/fetchProgram';
import { freePort } from '@petstore/testing/freePort';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { measured } from '@petstore/testing/slowness';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asServer, type Start, startOnPort } from '../startOnPort.ts';
import { callsOf, expectedCalls } from './expectedCalls.ts';
import { startLambda } from './lambda/standIn.ts';

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
  ['Lambda', asServer(startLambda)],
  ['H3', asProcess('h3.ts')],
  ['Hono', asProcess('hono.ts')],
  ...runtimesToTest('bun').map(({ title, executable }) => [title, asProcess('bun.ts', executable)] as const),
  ...runtimesToTest('deno').map(
    ({ title, executable }) => [title, asProcess('deno.ts', executable, denoServe)] as const,
  ),
  ...runtimesToTest('workerd').map(
    (runtime) =>
      ['Workers', asServer((port) => startFetchProgram(runtime, pathOf('worker.ts'), { port }))] as const,
  ),
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

  it(`the gateway in ${name} serves each protocol that its host has, and the docs page`, async () => {
    const lacking = name === 'Lambda' ? ['events', 'websocket'] : ['websocket'];
    const hasAll = name === 'Express' || name.startsWith('Bun');
    const protocols = Object.keys(expectedCalls).filter((each) => hasAll || !lacking.includes(each));
    const args = ['--conditions=trpc-gateway-source', pathOf('calls.mts'), origin, ...protocols];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toMatchObject(callsOf(protocols));
  });

  it(`the document and the docs page of the gateway in ${name} name the paths below /api`, async () => {
    const document = (await (await fetch(`${origin}/api/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: '/api/v1' }]);
    const html = await (await fetch(`${origin}/api/docs`)).text();
    expect(html).toMatch(/<script src="[^"]*start\.js" data-document="openapi\.json">/);
  });

  it(`${name} keeps its own pages and its own 404`, async () => {
    // In H3, all paths below /api are the gateway's.
    const responses = ['/api/hello', '/elsewhere', name === 'H3' ? '/other' : '/api/v2?a'].map(
      async (path) => {
        const response = await fetch(`${origin}${path}`);
        return [response.status, await response.text()];
      },
    );
    expect(await Promise.all(responses)).toEqual([
      [200, `Hello from ${name}.`],
      [404, `${name} has no such page.`],
      [404, `${name} has no such page.`],
    ]);
    const nothing = await fetch(`${origin}/api/v1/nothing`);
    expect([nothing.status, await nothing.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  });

  // The last test: it ends the server.
  it.runIf(['Express', 'Fastify', 'H3', 'Hono'].includes(name))(
    `${name} ends within 8 s of SIGTERM although a client reads a stream of events`,
    async () => {
      const headers = { accept: 'text/event-stream' };
      const events = await fetch(`${origin}/api/v1/news`, { headers });
      const read = events.text().catch(() => undefined);
      const stoppedAt = performance.now();
      await stop();
      await read;
      expect(measured(performance.now() - stoppedAt)).toBeLessThan(8000);
    },
  );
});
