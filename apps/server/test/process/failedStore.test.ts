import { once } from 'node:events';
import { rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { collections } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { commandMissing } from '@petstore/testing/commandMissing';
import { startProcess } from '@petstore/testing/startProcess';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { logLines, type RunningServer, workersOf } from '../testing/petStoreProcess.ts';
import { createPet, rex } from '../testing/petCalls.ts';

const env = { API_KEY: apiKey };
const holdLock = fileURLToPath(new URL('../testing/holdLock.ts', import.meta.url));

const create = (origin: string, signal?: AbortSignal) =>
  createPet(origin, rex, { headers: { connection: 'close' }, signal: signal ?? null });

/** Injects disk errors (EIO) into a process: on data pages, from which LMDB recovers, and eventually on a meta page. */
async function failDisk(pid: number): Promise<void> {
  const inject = ['-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=EIO:when=5+3'];
  const tracer = startProcess('strace', ['-f', '-p', String(pid), '-o', '/dev/null', ...inject], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void tracer.kill('SIGKILL'));
  await once(tracer.stderr ?? tracer, 'data');
}

/** Sends creates until a condition holds, and ignores their results. */
async function createUntil(origin: string, condition: () => boolean): Promise<void> {
  while (!condition()) await create(origin).catch(() => {});
}

const fatalLine = (server: RunningServer) => logLines(server).find(({ level }) => level === 60);

describe('a process without its data folder', () => {
  test.each([
    ['removed', (dataDir: string) => rm(dataDir, { recursive: true })],
    ['moved away', (dataDir: string) => rename(dataDir, `${dataDir}-moved`)],
  ])(
    'a process exits with code 1 and reports it in the log and on stderr if its data folder is %s',
    async (_, remove) => {
      const { serve, dataDir } = await newFolder();
      const server = await serve({ env });
      expect((await create(server.origin)).status).toBe(201);
      await remove(dataDir);
      expect(await server.exited).toEqual({ code: 1, signal: null });
      expect(fatalLine(server)).toMatchObject({ err: { code: 'fatal' } });
      expect(server.stderr()).toContain(`in the data folder ${dataDir} was removed or replaced while in use`);
    },
  );

  test.runIf(process.platform === 'linux')(
    'with WORKERS=2 no worker creates a new store after the data folder was removed',
    async () => {
      const { serve, dataDir } = await newFolder();
      const server = await serve({ env: { ...env, WORKERS: '2' } });
      expect((await create(server.origin)).status).toBe(201);
      await rm(dataDir, { recursive: true });
      expect(await server.exited).toEqual({ code: 1, signal: null });
      expect(server.stderr()).toContain(
        `${dataDir}/petstore.mdb was removed while the service was running. `,
      );
      expect(workersOf(server)).toHaveLength(2);
      await expect(rm(dataDir)).rejects.toThrow('ENOENT');
    },
  );
});

describe.skipIf(commandMissing('strace'))('a process after a fatal error of LMDB', () => {
  test(
    'a fatal error of LMDB ends the process with code 1 and is reported in the log and on stderr',
    // strace stops the process at every system call: slow on a busy machine.
    { timeout: 240_000 },
    async () => {
      const { serve } = await newFolder();
      const server = await serve({ env });
      await failDisk(server.child.pid ?? 0);
      let hasEnded = false;
      void server.exited.then(() => (hasEnded = true));
      await createUntil(server.origin, () => hasEnded);
      expect(await server.exited).toEqual({ code: 1, signal: null });
      expect(fatalLine(server)).toMatchObject({ err: { code: 'fatal' } });
      expect(server.stderr()).toContain('LMDB reported a fatal error');
    },
  );

  test.runIf(process.platform === 'linux')(
    'with WORKERS=2 a worker with a fatal error of LMDB is replaced, and every request is served again',
    // strace stops the process at every system call: slow on a busy machine.
    { timeout: 240_000 },
    async () => {
      const { serve } = await newFolder();
      const server = await serve({ env: { ...env, WORKERS: '2' } });
      const [failing = 0] = workersOf(server);
      await failDisk(failing);
      await createUntil(server.origin, () => workersOf(server).length === 3);
      await vi.waitFor(() => {
        const ended = logLines(server).find(({ msg }) => msg === 'worker exited');
        expect(ended).toMatchObject({
          worker: failing,
          code: 1,
          level: 50,
          reason: expect.stringContaining('LMDB reported a fatal error'),
        });
      }, 60_000);
      const statuses: number[] = [];
      for (let count = 0; count < 20; count += 1) statuses.push((await create(server.origin)).status);
      expect(new Set(statuses)).toEqual(new Set([201]));
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    },
  );
});

describe('SIGTERM while another process blocks all writes', () => {
  test(
    'SIGTERM while writes are blocked ends the process by SIGKILL within 11 s, and the log has the reason',
    { timeout: 30_000 },
    async () => {
      const { serve, start, dataDir } = await newFolder();
      const server = await serve({ env });
      await once(start({ entry: holdLock, args: [dataDir] }).child.stdout ?? server.child, 'data');
      const response = create(server.origin).catch(() => undefined);
      // The create has reached the store, or the shutdown has less to wait for.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const since = performance.now();
      server.child.kill('SIGTERM');
      expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
      expect(performance.now() - since).toBeLessThan(11_000);
      await response;
      expect(logLines(server).at(-1)).toMatchObject({
        level: 50,
        msg: 'stopped, but the store did not close',
      });
      expect(server.stderr()).toContain(
        `The store did not close: The data folder ${dataDir} was closed, but a write`,
      );
    },
  );

  test.runIf(process.platform === 'linux')(
    'SIGTERM while writes are blocked ends all workers and the supervisor with code 1 within 11 s: WORKERS=2',
    { timeout: 30_000 },
    async () => {
      const { serve, start, dataDir } = await newFolder();
      const server = await serve({ env: { ...env, WORKERS: '2' } });
      await once(start({ entry: holdLock, args: [dataDir] }).child.stdout ?? server.child, 'data');
      const responses = Array.from({ length: 12 }, () => create(server.origin).catch(() => undefined));
      await new Promise((resolve) => setTimeout(resolve, 300));
      const since = performance.now();
      server.child.kill('SIGTERM');
      expect(await server.exited).toEqual({ code: 1, signal: null });
      expect(performance.now() - since).toBeLessThan(11_000);
      await Promise.all(responses);
      expect(server.stderr()).toContain('2 of 2 workers did not exit cleanly.');
      const ended = logLines(server).filter(({ msg }) => msg === 'worker exited');
      expect(ended).toMatchObject([{ signal: 'SIGKILL' }, { signal: 'SIGKILL' }]);
    },
  );
});

test.runIf(process.platform === 'linux')(
  'serve, verify, backup and keys exit with code 1 and name the suspended process that holds the write lock of the data folder',
  { timeout: 60_000 },
  async () => {
    const { start, command, dataDir } = await newFolder();
    await (await openEmbeddedStore({ dataDir, collections })).close();
    const { child } = start({ entry: holdLock, args: [dataDir] });
    await once(child.stdout ?? child, 'data');
    child.kill('SIGSTOP');
    const ended = await Promise.all([
      command([], { env }),
      command([], { env: { ...env, WORKERS: '2' } }),
      command(['verify']),
      command(['backup', `${dataDir}-copy`]),
      command(['keys', 'list']),
    ]);
    for (const { code, stderr } of ended) {
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `The data folder ${dataDir} cannot be opened: process ${child.pid} has held its write lock for 10 s. If that process is suspended or hangs, resume it (kill -CONT ${child.pid}) or end it, and try again.\n`,
      });
    }
  },
);

test.runIf(process.platform === 'linux')(
  'a start continues when the process that held the write lock of the data folder has ended',
  { timeout: 30_000 },
  async () => {
    const { serve, start, dataDir } = await newFolder();
    await (await openEmbeddedStore({ dataDir, collections })).close();
    const holder = start({ entry: holdLock, args: [dataDir] });
    await once(holder.child.stdout ?? holder.child, 'data');
    const serving = serve({ env });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    holder.child.kill('SIGKILL');
    expect((await create((await serving).origin)).status).toBe(201);
  },
);
