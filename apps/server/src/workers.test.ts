import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { lives } from '@petstore/testing/lives';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, newFolder } from './testing/newFolder.ts';
import { listening, logLines, type RunningServer } from './testing/petStoreProcess.ts';

const env = { API_KEY: apiKey, WORKERS: '2' };

/** Waits until a check passes. The timeout allows for a busy machine. */
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 5 });

/** Returns the ids of workers that have logged `worker listening`, in order. */
const workersOf = (server: Pick<RunningServer, 'stdout'>) =>
  logLines(server)
    .filter(({ msg }) => msg === 'worker listening')
    .map(({ pid }) => Number(pid));

/** Returns the ids of running child processes. */
const childrenOf = ({ child: { pid } }: Pick<RunningServer, 'child'>) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

/** Sends a request on a new connection, which the kernel assigns to a worker. */
async function send(origin: string): Promise<number> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  try {
    await once(socket, 'connect');
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
    // If its worker is killed, the connection closes without an error and without data.
    const ended = once(socket, 'close').then(() =>
      Promise.reject(new Error('The connection closed without a response.')),
    );
    const [response] = (await Promise.race([once(socket, 'data'), ended])) as [string];
    return Number(response.split(' ', 2)[1]);
  } finally {
    socket.destroy();
  }
}

/**
 * Starts calls with incomplete bodies, enough for every worker to have one.
 * @returns a function that ends them
 */
async function holdCalls(origin: string): Promise<() => void> {
  const { hostname, port } = new URL(origin);
  const sockets = Array.from({ length: 12 }, () => connect(Number(port), hostname).on('error', () => {}));
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(end);
  for (const socket of sockets) {
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
  }
  await sleep(300);
  return end;
}

// Only Linux distributes the connections of a port.
describe.runIf(process.platform === 'linux')('WORKERS=2', { timeout: 60_000 }, () => {
  test('WORKERS=2 with PORT=0 share one address, and accept the one first key', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { WORKERS: '2', LOG_REQUESTS: 'all' } });
    expect(server.stderr().match(/psk_[\w-]{43}/g)).toHaveLength(2);
    const [key] = /psk_[\w-]{43}/.exec(server.stderr()) ?? [];
    const lines = logLines(server).filter(({ msg }) => String(msg).endsWith('listening'));
    expect(new Set(lines.map(({ origin }) => origin))).toEqual(new Set([server.origin]));
    await until(async () => {
      const received = await fetch(`${server.origin}/v1/pets`, {
        headers: { authorization: `Bearer ${key}`, connection: 'close' },
      });
      expect(received.status).toBe(200);
      const response = logLines(server).filter(({ msg }) => msg === 'request');
      expect(new Set(response.map(({ pid }) => pid))).toEqual(new Set(workersOf(server)));
    });
  });

  test('a worker that is killed under load is replaced, while the other one serves', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const [victim = 0, other = 0] = workersOf(server);
    const done = new AbortController();
    let response = 0;
    const load = Array.from({ length: 8 }, async () => {
      while (!done.signal.aborted) {
        // Requests of the killed worker are lost.
        const status = await send(server.origin).catch(() => undefined);
        if (status === 200) response += 1;
        await sleep(1);
      }
    });
    await until(() => expect(response).toBeGreaterThan(50));
    process.kill(victim, 'SIGKILL');
    const before = response;
    // `npm run test:drain -w @petstore/server` checks that this takes less than 1 s.
    await until(() => expect(workersOf(server)).toHaveLength(3));
    done.abort();
    await Promise.all(load);
    expect(response).toBeGreaterThan(before);
    expect(lives(other)).toBe(true);
    expect(logLines(server)).toContainEqual(
      expect.objectContaining({ msg: 'worker exited', worker: victim, signal: 'SIGKILL' }),
    );
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  test('a worker that gets SIGTERM is replaced once, before it has ended', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { ...env, ADMIN_PORT: '0' } });
    const admin = String(logLines(server).find(({ msg }) => msg === 'listening')?.admin);
    const [leaving = 0] = workersOf(server);
    const endCalls = await holdCalls(server.origin);
    process.kill(leaving, 'SIGTERM');
    await until(() => expect(workersOf(server)).toHaveLength(3));
    expect(lives(leaving)).toBe(true);
    endCalls();
    await until(() =>
      expect(logLines(server)).toContainEqual(
        expect.objectContaining({ msg: 'worker exited', worker: leaving, code: 0, level: 30 }),
      ),
    );
    // Responses show that the supervisor has handled the exit: it would have started another worker by now.
    for (let turns = 0; turns < 5; turns += 1) expect((await fetch(`${admin}/healthz`)).status).toBe(200);
    expect(childrenOf(server)).toHaveLength(2);
  });

  test('a worker that exits before it serves is logged and replaced, while the first one serves', async () => {
    const { start } = await newFolder();
    const server = start({ env });
    await until(() => expect(workersOf(server)).toHaveLength(1));
    const [first = 0] = workersOf(server);
    await until(() => expect(childrenOf(server)).toHaveLength(2));
    const second = childrenOf(server).find((pid) => pid !== first) ?? 0;
    process.kill(second, 'SIGKILL');
    const { stop } = await listening(server);
    expect(logLines(server)).toContainEqual(
      expect.objectContaining({ msg: 'worker exited', worker: second, signal: 'SIGKILL', level: 50 }),
    );
    await until(() => expect(workersOf(server)).toHaveLength(2));
    expect(workersOf(server)[0]).toBe(first);
    expect(lives(first)).toBe(true);
    expect(await stop()).toEqual({ code: 0, signal: null });
  });

  test('workers stop gracefully if the supervisor is killed', async () => {
    const { start } = await newFolder();
    const server = start({ env });
    await until(() => expect(workersOf(server)).toHaveLength(2));
    const workers = workersOf(server);
    server.child.kill('SIGKILL');
    // Both workers hold stdout. The last one closes it just before it exits.
    await server.exited;
    await until(() => expect(workers.filter(lives)).toEqual([]));
    expect(logLines(server).filter(({ msg }) => msg === 'stopped')).toHaveLength(2);
  });

  test.for(['SIGTERM', 'SIGINT'] as const)('%s stops all workers gracefully, with code 0', async (signal) => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const workers = workersOf(server);
    server.child.kill(signal);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(workers.filter(lives)).toEqual([]);
    expect(logLines(server).filter(({ msg }) => msg === 'stopped')).toHaveLength(3);
    expect(server.stderr()).toBe('');
  });

  test('a second signal ends all workers immediately', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const workers = workersOf(server);
    await holdCalls(server.origin);
    server.child.kill('SIGTERM');
    await sleep(700);
    server.child.kill('SIGTERM');
    // A graceful shutdown would end with an exit code.
    expect(await server.exited).toEqual({ code: null, signal: 'SIGTERM' });
    // The supervisor kills them before it ends. The kernel may take a moment.
    await until(() => expect(workers.filter(lives)).toEqual([]));
    expect(logLines(server).filter(({ msg }) => msg === 'stopped')).toEqual([]);
  });

  test('a start with WORKERS=2 exits with a one-line message if the first worker cannot start', async () => {
    const { command, dataDir } = await newFolder();
    await writeFile(dataDir, '');
    const { code, stdout, stderr } = await command([], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\.\n$/);
    expect(stderr).toContain(dataDir);
  });

  test('a start with WORKERS=2 exits with a one-line message if the port is in use', async () => {
    const { serve, command } = await newFolder();
    const { port } = new URL((await serve({ env })).origin);
    const { code, stderr } = await command([], { env: { ...env, PORT: port } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^PORT is \d+ .*\.\n$/) });
  });
});
