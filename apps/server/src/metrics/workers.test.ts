import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { logLines } from '../testing/petStoreProcess.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';

const series = 'petstore_requests_total{protocol="other",operation="none",status="2xx"}';

const adminOf = (server: Parameters<typeof logLines>[0]) =>
  String(logLines(server).find(({ msg }) => msg === 'listening')?.admin);

// Only Linux distributes the connections of a port.
describe.runIf(process.platform === 'linux')('two workers', () => {
  test('the admin port has the totals of two workers, which do not decrease when one is killed', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, WORKERS: '2', ADMIN_PORT: '0' } });
    const admin = adminOf(server);
    const total = async () => {
      const text = await (await fetch(`${admin}/metrics`)).text();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(series))
          ?.slice(series.length),
      );
    };
    const workers = () =>
      logLines(server)
        .filter(({ msg }) => msg === 'worker listening')
        .map(({ pid }) => Number(pid));
    for (let each = 0; each < 20; each += 1) {
      await (await fetch(`${server.origin}/healthz`, { headers: { connection: 'close' } })).text();
    }
    expect(await total()).toBe(20);
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);
    process.kill(workers()[0] ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(workers()).toHaveLength(3), { timeout: 15_000, interval: 20 });
    expect(await total()).toBe(20);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

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
