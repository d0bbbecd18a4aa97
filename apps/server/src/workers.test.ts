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

/** Waits for what a test means, however long a busy machine takes: the time of the test alone bounds it. */
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 5 });

/** The processes that said that they listen, in order. */
const workersOf = (server: Pick<RunningServer, 'stdout'>) =>
  logLines(server)
    .filter(({ msg }) => msg === 'worker listening')
    .map(({ pid }) => Number(pid));

/** The processes that it started and that have not ended. */
const childrenOf = ({ child: { pid } }: Pick<RunningServer, 'child'>) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

/** Asks on a connection of its own: which worker gets it is the kernel's choice. */
async function send(origin: string): Promise<number> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  try {
    await once(socket, 'connect');
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
    // Where its worker is killed it ends without an error, and without data.
    const ended = once(socket, 'close').then(() => Promise.reject(new Error('It closed without an answer.')));
    const [response] = (await Promise.race([once(socket, 'data'), ended])) as [string];
    return Number(response.split(' ', 2)[1]);
  } finally {
    socket.destroy();
  }
}

/** Begins calls whose bodies never end, enough that every worker has one. @returns ends them */
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

// Only Linux deals the connections of a port out.
describe.runIf(process.platform === 'linux')('WORKERS=2', { timeout: 60_000 }, () => {
  test('on PORT=0 gives one address on which both answer, and shows one first key, which both take', async () => {
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

  test('replaces a worker that is killed under load, while the other serves on', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const [victim = 0, other = 0] = workersOf(server);
    const done = new AbortController();
    let response = 0;
    const load = Array.from({ length: 8 }, async () => {
      while (!done.signal.aborted) {
        // What the killed one had is lost.
        const status = await send(server.origin).catch(() => undefined);
        if (status === 200) response += 1;
        await sleep(1);
      }
    });
    await until(() => expect(response).toBeGreaterThan(50));
    process.kill(victim, 'SIGKILL');
    const before = response;
    // How long that takes `npm run test:drain` holds to 1 s.
    await until(() => expect(workersOf(server)).toHaveLength(3));
    done.abort();
    await Promise.all(load);
    expect(response).toBeGreaterThan(before);
    expect(lives(other)).toBe(true);
    expect(logLines(server)).toContainEqual(
      expect.objectContaining({ msg: 'worker ended', worker: victim, signal: 'SIGKILL' }),
    );
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  test('replaces a worker that is told to stop before it has ended, and does so once', async () => {
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
        expect.objectContaining({ msg: 'worker ended', worker: leaving, code: 0, level: 30 }),
      ),
    );
    // The parent has gone on by the time it answers: what it starts for a worker that ended it has started.
    for (let turns = 0; turns < 5; turns += 1) expect((await fetch(`${admin}/healthz`)).status).toBe(200);
    expect(childrenOf(server)).toHaveLength(2);
  });

  test('logs and replaces a worker that ends before it serves, while the first one serves on', async () => {
    const { start } = await newFolder();
    const server = start({ env });
    await until(() => expect(workersOf(server)).toHaveLength(1));
    const [first = 0] = workersOf(server);
    await until(() => expect(childrenOf(server)).toHaveLength(2));
    const second = childrenOf(server).find((pid) => pid !== first) ?? 0;
    process.kill(second, 'SIGKILL');
    const { stop } = await listening(server);
    expect(logLines(server)).toContainEqual(
      expect.objectContaining({ msg: 'worker ended', worker: second, signal: 'SIGKILL', level: 50 }),
    );
    await until(() => expect(workersOf(server)).toHaveLength(2));
    expect(workersOf(server)[0]).toBe(first);
    expect(lives(first)).toBe(true);
    expect(await stop()).toEqual({ code: 0, signal: null });
  });

  test('ends its workers in order where the parent is killed', async () => {
    const { start } = await newFolder();
    const server = start({ env });
    await until(() => expect(workersOf(server)).toHaveLength(2));
    const workers = workersOf(server);
    server.child.kill('SIGKILL');
    // Both hold stdout, which the last of them closes just before it is gone.
    await server.exited;
    await until(() => expect(workers.filter(lives)).toEqual([]));
    expect(logLines(server).filter(({ msg }) => msg === 'stopped')).toHaveLength(2);
  });

  test.for(['SIGTERM', 'SIGINT'] as const)('on %s ends all in order, with code 0', async (signal) => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const workers = workersOf(server);
    server.child.kill(signal);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(workers.filter(lives)).toEqual([]);
    expect(logLines(server).filter(({ msg }) => msg === 'stopped')).toHaveLength(3);
    expect(server.stderr()).toBe('');
  });

  test('on a second signal ends all at once', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env });
    const workers = workersOf(server);
    await holdCalls(server.origin);
    server.child.kill('SIGTERM');
    await sleep(700);
    server.child.kill('SIGTERM');
    // A stop in order ends with a code.
    expect(await server.exited).toEqual({ code: null, signal: 'SIGTERM' });
    // They are killed before the parent ends, which the kernel may take its time for.
    await until(() => expect(workers.filter(lives)).toEqual([]));
    expect(logLines(server).filter(({ msg }) => msg === 'stopped')).toEqual([]);
  });

  test('ends the start with one sentence where the first worker cannot start', async () => {
    const { command, dataDir } = await newFolder();
    await writeFile(dataDir, '');
    const { code, stdout, stderr } = await command([], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\.\n$/);
    expect(stderr).toContain(dataDir);
  });

  test('ends the start with one sentence where the port is taken', async () => {
    const { serve, command } = await newFolder();
    const { port } = new URL((await serve({ env })).origin);
    const { code, stderr } = await command([], { env: { ...env, PORT: port } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^PORT is \d+ .*\.\n$/) });
  });
});
