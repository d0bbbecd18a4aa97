import { describe, expect, test } from 'vitest';
import { logLines } from '../testing/petStoreProcess.ts';
import { newFolder } from '../testing/newFolder.ts';
import { takenPort } from '../testing/takenPort.ts';

describe('ADMIN_PORT', () => {
  const adminOf = (server: Parameters<typeof logLines>[0]) =>
    String(logLines(server).find(({ msg }) => msg === 'listening')?.admin);

  test('ADMIN_PORT serves metrics and health routes without a credential, and PORT serves no metrics', async () => {
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

  // Only Linux distributes the connections of a port.
  test.runIf(process.platform === 'linux')(
    'the log line of two workers has the origin of the admin port as a URL',
    async () => {
      const { serve } = await newFolder();
      const server = await serve({ env: { WORKERS: '2', ADMIN_HOST: '::1', ADMIN_PORT: '0' } });
      expect((await fetch(`${adminOf(server)}/healthz`)).status).toBe(200);
    },
  );

  // The output also shows that the failed start did not print the first key.
  test.for(['1', '2'])('a start with an ADMIN_PORT in use exits with code 1: WORKERS=%s', async (WORKERS) => {
    const port = await takenPort();
    const { command } = await newFolder();
    expect(await command([], { env: { WORKERS, ADMIN_PORT: port } })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `ADMIN_PORT is ${port} and ADMIN_HOST is 127.0.0.1, where another process already listens. Stop that process, or set ADMIN_PORT to another port.\n`,
    });
  });
});
