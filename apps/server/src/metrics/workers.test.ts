import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { logLines } from '../testing/petStoreProcess.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';

const adminOf = (server: Parameters<typeof logLines>[0]) =>
  String(logLines(server).find(({ msg }) => msg === 'listening')?.admin);

// Only Linux distributes the connections of a port.
describe.runIf(process.platform === 'linux')('two workers', () => {
  test('/readyz of the admin port answers 503 while two workers drain', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, WORKERS: '2', ADMIN_PORT: '0' } });
    const admin = adminOf(server);
    const { hostname, port } = new URL(server.origin);
    const inFlight = connect(Number(port), hostname);
    onTestFinished(() => void inFlight.destroy());
    await once(inFlight, 'connect');
    inFlight.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    await sleep(200);
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);
    server.child.kill('SIGTERM');
    await vi.waitFor(() => expect(logLines(server).some(({ msg }) => msg === 'stopping')).toBe(true), 5_000);
    expect(await (await fetch(`${admin}/readyz`)).json()).toEqual({
      status: 'unavailable',
      reason: 'draining',
    });
    inFlight.destroy();
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  test('the log line of two workers has the origin of the admin port as a URL', async () => {
    const { serve } = await newFolder();
    const env = { API_KEY: apiKey, WORKERS: '2', ADMIN_HOST: '::1', ADMIN_PORT: '0' };
    expect((await fetch(`${adminOf(await serve({ env }))}/healthz`)).status).toBe(200);
  });
});
