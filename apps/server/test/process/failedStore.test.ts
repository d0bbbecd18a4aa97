import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { holdWriteLock } from '@petstore/testing/holdWriteLock';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { logLines } from '@petstore/testing/serviceProcess';
import { workersOf } from '../testing/petStoreProcess.ts';
import { createPet, rex } from '../testing/petCalls.ts';

const env = { API_KEY: apiKey };
const create = (origin: string) => createPet(origin, rex, { headers: { connection: 'close' } });

describe('a process without its data folder', () => {
  test('a process exits with code 1 and reports it in the log and on stderr if its data folder is removed', async () => {
    const { serve, dataDir } = await newFolder();
    const server = await serve({ env });
    await rm(dataDir, { recursive: true });
    expect(await server.exited).toEqual({ code: 1, signal: null });
    expect(logLines(server).find(({ level }) => level === 60)).toMatchObject({ err: { code: 'fatal' } });
    expect(server.stderr()).toContain(`in the data folder ${dataDir} was removed or replaced while in use`);
  });

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
    const { serve, dataDir } = await newFolder();
    const server = await serve({ env: { ...env, WORKERS } });
    const holder = await holdWriteLock(join(dataDir, 'petstore.mdb'));
    onTestFinished(() => void holder.kill('SIGKILL'));
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
