import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { logLines } from '../testing/petStoreProcess.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { listPets } from '../testing/petCalls.ts';

const body = JSON.stringify({ name: 'Rex', categoryId: 1 });

/** Sends a create without the last byte of its body. */
async function createInFlight(origin: string): Promise<{ socket: Socket; response: () => string }> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let response = '';
  socket.setEncoding('utf8').on('data', (text: string) => (response += text));
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    [
      'POST /v1/pets HTTP/1.1',
      `Host: ${hostname}`,
      `Authorization: Bearer ${apiKey}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      '',
      '',
    ].join('\r\n'),
  );
  const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';
  await vi.waitFor(() => expect(response).toBe(goOn));
  socket.write(body.slice(0, -1));
  return { socket, response: () => response.slice(goOn.length) };
}

const env = { API_KEY: apiKey };

describe('signals', () => {
  test('SIGINT ends an idle server with code 0 and a complete log', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    server.child.kill('SIGINT');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    const lines = logLines(server).filter(({ level }) => level === 30);
    expect(lines.map(({ msg }) => msg)).toEqual(['listening', 'stopping', 'stopped']);
    expect(server.stderr()).toBe('');
  });

  test('SIGTERM completes a call in flight, and its animal is stored', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const { socket, response: received } = await createInFlight(server.origin);
    server.child.kill('SIGTERM');
    await vi.waitFor(() => expect(logLines(server).some(({ msg }) => msg === 'stopping')).toBe(true));
    await expect(fetch(`${server.origin}/healthz`)).rejects.toThrow('fetch failed');
    socket.write(body.slice(-1));
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(received()).toMatch(/^HTTP\/1\.1 201 /);
    expect(received()).toMatch(/^connection: close\r$/im);

    const { origin } = await serve({ env });
    const list = await listPets(origin);
    expect(await list.json()).toMatchObject([JSON.parse(body)]);
  });

  test('SIGTERM that is received twice, as under npm, counts once', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const { socket, response } = await createInFlight(server.origin);
    server.child.kill('SIGTERM');
    await sleep(100);
    server.child.kill('SIGTERM');
    await sleep(100);
    socket.write(body.slice(-1));
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(response()).toMatch(/^HTTP\/1\.1 201 /);
  });

  test('a second SIGINT ends the process immediately', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const { response } = await createInFlight(server.origin);
    server.child.kill('SIGINT');
    await sleep(700);
    server.child.kill('SIGINT');
    const since = performance.now();
    expect(await server.exited).toEqual({ code: null, signal: 'SIGINT' });
    expect(performance.now() - since).toBeLessThan(1_000);
    expect(response()).toBe('');
  });
});
