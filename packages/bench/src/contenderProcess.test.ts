import { readFile } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { apiKey } from './cases.ts';
import { startContender } from './contenderProcess.ts';
import { contenders } from './contenders.ts';
import { processorSeconds, processTree } from './processTree.ts';

const isLinux = process.platform === 'linux';
if (!isLinux)
  process.stdout.write('SKIPPED: the processes of a contender: they are read from /proc, of Linux.\n');

/** A process that has ended may stay in the process table, as a zombie, until its parent reads its exit code. */
const isRunning = async (pid: number) =>
  /^State:\s+[^ZX]/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));

it.skipIf(!isLinux)(
  'a contender is all of its processes: their processor time is counted, and none outlives it',
  async () => {
    const gateway = contenders.find(({ name }) => name === 'gateway');
    if (gateway === undefined) throw new Error('There is no contender named gateway.');
    const environment = { ...gateway.environment, WORKERS: '2' };
    const server = await startContender({ ...gateway, environment });
    try {
      await vi.waitFor(async () => expect(await processTree(server.pid)).toHaveLength(3));
      const pids = await processTree(server.pid);
      const timesOf = () => Promise.all(pids.map(processorSeconds));
      const [before, timesBefore] = [await server.processorSeconds(), await timesOf()];
      for (let attempt = 0; attempt < 200; attempt += 1) {
        const headers = { authorization: `Bearer ${apiKey}`, connection: 'close' };
        await (await fetch(`http://127.0.0.1:${server.port}/v1/pets`, { headers })).arrayBuffer();
      }
      const used = (await timesOf()).map((time, index) => time - (timesBefore[index] ?? 0));
      expect(used.filter((time) => time > 0).length).toBeGreaterThan(1);
      expect((await server.processorSeconds()) - before).toBeGreaterThan(
        used.reduce((sum, time) => sum + time, 0) * 0.99,
      );
      expect(await Promise.all(pids.map(isRunning))).toEqual([true, true, true]);
      await server.stop();
      await vi.waitFor(async () =>
        expect(await Promise.all(pids.map(isRunning))).toEqual([false, false, false]),
      );
    } finally {
      await server.stop();
    }
  },
);
