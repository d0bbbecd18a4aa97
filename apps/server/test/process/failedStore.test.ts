import { once } from 'node:events';
import { rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { collections } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { describe, expect, test } from 'vitest';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { holdLock, logLines, type RunningServer, workersOf } from '../testing/petStoreProcess.ts';
import { createPet, rex } from '../testing/petCalls.ts';

const env = { API_KEY: apiKey };
const create = (origin: string) => createPet(origin, rex, { headers: { connection: 'close' } });

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

test.each([
  {
    WORKERS: '1',
    exit: { code: null, signal: 'SIGKILL' },
    reason: 'The store did not close: The data folder',
    lines: [{ msg: 'stopped, but the store did not close', level: 50 }],
  },
  ...(process.platform === 'linux'
    ? [
        {
          WORKERS: '2',
          exit: { code: 1, signal: null },
          reason: '2 of 2 workers did not exit cleanly.',
          lines: [
            { msg: 'worker exited', signal: 'SIGKILL' },
            { msg: 'worker exited', signal: 'SIGKILL' },
          ],
        },
      ]
    : []),
])(
  'SIGTERM while another process blocks all writes ends the process within 11 s, and the log has the reason: WORKERS=$WORKERS',
  { timeout: 120_000 },
  async ({ WORKERS, exit, reason, lines }) => {
    const { serve, start, dataDir } = await newFolder();
    const server = await serve({ env: { ...env, WORKERS } });
    await once(start(holdLock(dataDir)).child.stdout ?? server.child, 'data');
    const responses = Array.from({ length: 12 }, () => create(server.origin).catch(() => undefined));
    // The creates have reached the store, or the shutdown has less to wait for.
    await sleep(300);
    const since = performance.now();
    server.child.kill('SIGTERM');
    expect(await server.exited).toEqual(exit);
    expect(performance.now() - since).toBeLessThan(11_000);
    await Promise.all(responses);
    expect(server.stderr()).toContain(reason);
    const [first] = lines;
    expect(logLines(server).filter(({ msg }) => msg === first?.msg)).toMatchObject(lines);
  },
);

test.runIf(process.platform === 'linux')(
  'serve, verify, backup and keys exit with code 1 and name the suspended process that holds the write lock of the data folder',
  { timeout: 120_000 },
  async () => {
    const { start, command, dataDir } = await newFolder();
    await (await openEmbeddedStore({ dataDir, collections })).close();
    const { child } = start(holdLock(dataDir));
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
  { timeout: 120_000 },
  async () => {
    const { serve, start, dataDir } = await newFolder();
    await (await openEmbeddedStore({ dataDir, collections })).close();
    const holder = start(holdLock(dataDir));
    await once(holder.child.stdout ?? holder.child, 'data');
    const serving = serve({ env });
    await sleep(2_000);
    holder.child.kill('SIGKILL');
    expect((await create((await serving).origin)).status).toBe(201);
  },
);
