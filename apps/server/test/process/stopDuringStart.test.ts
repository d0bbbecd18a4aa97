import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { longForm } from '@petstore/testing/forms';
import { freePort } from '@petstore/testing/freePort';
import { measured, slowness } from '@petstore/testing/slowness';
import { expect, test, vi } from 'vitest';
import { listAll, problemsOf, startCreates } from '../testing/creates.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';

const rounds = longForm ? 200 : 3;

/** Node prints this when the process has a listener of SIGTERM. Before, while Node starts, the signal ends the process. */
const caught = 'catches SIGTERM';
const reportCaught = `process.on('newListener', (name) => name === 'SIGTERM' && setImmediate(() => process.stderr.write('${caught}')));`;

/** Returns the ids of the running processes with a data folder in their environment. */
const processesOf = (dataDir: string): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').includes(`DATA_DIR=${dataDir}\0`);
    } catch {
      // No process, or one that has ended.
      return false;
    }
  });

// Only Linux distributes the connections of a port. The long form: `npm run test:long -w @petstore/server`.
test.runIf(process.platform === 'linux')(
  `SIGTERM at ${rounds} random moments of a start with WORKERS=4 ends it within 10 s with code 0, leaves no worker and loses no acknowledged create`,
  { timeout: rounds * 60_000 * slowness },
  async () => {
    const { serve, start, dataDir } = await newFolder();
    const PORT = String(await freePort());
    const env = { API_KEY: apiKey, WORKERS: '4', PORT };
    const since = performance.now();
    await (await serve({ env })).stop();
    const wholeMs = performance.now() - since;
    const creates = startCreates([`http://127.0.0.1:${PORT}`]);
    for (let round = 0; round < rounds; round += 1) {
      const server = start({ env, nodeArgs: [`--import=data:text/javascript,${reportCaught}`] });
      await vi.waitFor(() => expect(server.stderr()).toContain(caught), { interval: 5 });
      await sleep(Math.random() * wholeMs);
      let living: string[] | undefined;
      server.child.once('exit', () => (living = processesOf(dataDir)));
      server.child.kill('SIGTERM');
      const stoppedAt = performance.now();
      expect(await server.exited).toEqual({ code: 0, signal: null });
      expect(measured(performance.now() - stoppedAt)).toBeLessThan(10_000);
      expect(living).toEqual([]);
    }
    const server = await serve({ env });
    await creates.stop();
    expect(problemsOf(creates, await listAll(server.origin))).toEqual([]);
  },
);
