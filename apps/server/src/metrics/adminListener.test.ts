import { describe, expect, onTestFinished, test } from 'vitest';
import { logLines } from '../testing/petStoreProcess.ts';
import { newFolder } from '../testing/newFolder.ts';
import { adminListener } from './adminListener.ts';

const page = () => ({
  status: 200,
  headers: [['content-type', 'text/plain']] as const,
  body: 'a page',
});

async function listen() {
  const listener = await adminListener({
    host: '127.0.0.1',
    port: 0,
    pages: {
      '/page': page,
      '/broken': () => {
        throw new Error('secret');
      },
    },
  });
  onTestFinished(() => listener.close());
  return { ...listener, origin: `http://127.0.0.1:${listener.port}` };
}

describe('the admin listener', () => {
  test.for(['/page', '/page?a=b'])('gives the page at %s', async (target) => {
    const { origin } = await listen();
    const response = await fetch(origin + target);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'text/plain',
      'a page',
    ]);
  });

  test('gives a HEAD no body', async () => {
    const { origin } = await listen();
    const response = await fetch(`${origin}/page`, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'text/plain',
      '',
    ]);
  });

  test.for(['/', '/pag', '/page/', '/v1/pets', '/constructor'])('has nothing at %s', async (path) => {
    const { origin } = await listen();
    const response = await fetch(origin + path);
    expect([response.status, await response.json()]).toEqual([
      404,
      { code: 'NOT_FOUND', message: 'There is nothing at this path.', status: 404 },
    ]);
  });

  test.for(['POST', 'PUT', 'DELETE', 'OPTIONS'])('does not take %s', async (method) => {
    const { origin } = await listen();
    const response = await fetch(`${origin}/page`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('answers 500 where a page cannot be made, and does not say why', async () => {
    const { origin } = await listen();
    const response = await fetch(`${origin}/broken`);
    expect([response.status, await response.text()]).toEqual([
      500,
      '{"code":"INTERNAL_SERVER_ERROR","message":"The page could not be made.","status":500}',
    ]);
  });

  test('says which variable is wrong where the port is in use', async () => {
    const { port } = await listen();
    await expect(adminListener({ host: '127.0.0.1', port, pages: {} })).rejects.toThrow(
      `ADMIN_PORT is ${port} and ADMIN_HOST is 127.0.0.1, where another process listens`,
    );
  });

  test('says which variable is wrong where the address is not of this machine', async () => {
    // TEST-NET-1 (RFC 5737): no machine has it.
    await expect(adminListener({ host: '192.0.2.1', port: 0, pages: {} })).rejects.toThrow(
      'ADMIN_HOST is 192.0.2.1, which is not an address of this machine',
    );
  });
});

describe('the process', () => {
  const adminOf = (server: Parameters<typeof logLines>[0]) =>
    String(logLines(server).find(({ msg }) => msg === 'listening')?.admin);

  test('shows metrics and probes on ADMIN_PORT, without a credential, and no metrics on PORT', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { ADMIN_PORT: '0' } });
    const admin = adminOf(server);
    const metrics = await fetch(`${admin}/metrics`);
    expect([metrics.status, metrics.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect(await metrics.text()).toContain('petstore_store_ready 1\n');
    for (const path of ['/healthz', '/readyz']) {
      expect(await (await fetch(admin + path)).json()).toEqual({ status: 'ok' });
    }
    expect((await fetch(`${server.origin}/metrics`)).status).toBe(404);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  test('has no admin listener without ADMIN_PORT', async () => {
    const { serve } = await newFolder();
    expect(adminOf(await serve())).toBe('undefined');
  });

  // The key would have been shown by a start that fails.
  test.for(['1', '2'])('does not start where ADMIN_PORT is in use: WORKERS=%s', async (WORKERS) => {
    const { port } = await listen();
    const { command } = await newFolder();
    const env = { WORKERS, ADMIN_PORT: String(port) };
    expect(await command([], { env })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `ADMIN_PORT is ${port} and ADMIN_HOST is 127.0.0.1, where another process listens: stop that one, or set ADMIN_PORT to another port.\n`,
    });
  });
});
