import { adminListener } from '@petstore/runtime/admin';
import { describe, expect, onTestFinished, test } from 'vitest';
import { logLines } from '../testing/petStoreProcess.ts';
import { newFolder } from '../testing/newFolder.ts';

async function listen() {
  const listener = await adminListener({ host: '127.0.0.1', port: 0, pages: {} });
  onTestFinished(() => listener.close());
  return listener;
}

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
