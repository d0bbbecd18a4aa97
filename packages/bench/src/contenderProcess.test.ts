import { readFile } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { apiKey } from './cases.ts';
import { startContender } from './contenderProcess.ts';
import { contenders } from './contenders.ts';
import { processTree } from './processTree.ts';

const isLinux = process.platform === 'linux';
if (!isLinux)
  process.stdout.write('SKIPPED: the processes of a contender: they are read from /proc, of Linux.\n');

/** A process that has ended may stay in the process table, as a zombie, until its parent reads its exit code. */
const isRunning = async (pid: number) =>
  /^State:\s+[^ZX]/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));

it.skipIf(!isLinux)(
  'a contender is all of its processes: their processor time is counted, and none outlives it',
  { timeout: 60_000 },
  async () => {
    const gateway = contenders.find(({ name }) => name === 'gateway');
    if (gateway === undefined) throw new Error('There is no contender named gateway.');
    const server = await startContender(gateway, { workers: 2 });
    try {
      const before = await server.processorSeconds();
      const workersBefore = await server.workerSeconds();
      for (let attempt = 0; attempt < 200; attempt += 1) {
        const headers = { authorization: `Bearer ${apiKey}`, connection: 'close' };
        await (await fetch(`http://127.0.0.1:${server.port}/v1/pets`, { headers })).arrayBuffer();
      }
      const workers = (await server.workerSeconds()).map(
        (value, index) => value - (workersBefore[index] ?? 0),
      );
      const all = (await server.processorSeconds()) - before;
      expect(Math.min(...workers)).toBeGreaterThan(0);
      expect(all).toBeGreaterThan(((workers[0] ?? 0) + (workers[1] ?? 0)) * 0.99);
      // A server that stops in order ends its open connections first, which takes a second.
      await fetch(`http://127.0.0.1:${server.port}/healthz`);
      const pids = await processTree(server.pid);
      expect(await Promise.all(pids.map(isRunning))).toEqual([true, true, true]);
      await server.stop();
      await vi.waitFor(
        async () => expect(await Promise.all(pids.map(isRunning))).toEqual([false, false, false]),
        500,
      );
    } finally {
      await server.stop();
    }
  },
);
