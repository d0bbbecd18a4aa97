import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@petstore/testing/freePort';
import { slowness } from '@petstore/testing/slowness';
import { startProcess } from '@petstore/testing/startProcess';
import { apiKey } from './cases.ts';
import type { Contender } from './contenders.ts';
import { onCore, serverCore } from './cores.ts';

/** How long a contender may take until its first response, in milliseconds. */
const startDeadlineMs = 30_000 * slowness;

/** A contender that answers. */
export type ContenderProcess = Awaited<ReturnType<typeof startContender>>;

/** Starts a contender on its core until it answers. @throws {UnavailableError} if this machine lacks it */
export async function startContender({
  command,
  environment,
  name,
  readyPath = '/v1/pets?limit=1',
}: Pick<Contender, 'command' | 'environment' | 'name' | 'readyPath'>) {
  const [file, ...args] = onCore(serverCore, await command());
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  const port = await freePort();
  const since = performance.now();
  const child = startProcess(file, args, {
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      PORT: String(port),
      API_KEY: apiKey,
      DATA_DIR: join(folder, 'data'),
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = `${complaints}${text}`.slice(-4_000);
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      // No client is left, so there is nothing to drain.
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilResponding(child, `http://127.0.0.1:${port}${readyPath}`, since + startDeadlineMs);
  } catch (cause) {
    await stop();
    throw new Error(`${name} did not start: ${complaints || String(cause)}`, { cause });
  }
  const pid = child.pid as number;
  return {
    port,
    /** The processor time that it has used, in seconds. */
    processorSeconds: () => processorSeconds(pid),
    /** The files that it runs on, by what they are: its runtime, and the addon of uWebSockets.js. */
    async programs() {
      const runtime = await readlink(`/proc/${pid}/exe`);
      const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
      const addon = /\/\S*\/uws[^/\s]*\.node$/m.exec(maps)?.[0];
      return new Map([[basename(runtime), runtime], ...(addon ? [['uWebSockets.js', addon] as const] : [])]);
    },
    stop,
  };
}

async function untilResponding(child: ChildProcess, url: string, deadline: number): Promise<void> {
  for (;;) {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}`, connection: 'close' },
    }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error('it did not respond in time');
    await sleep(2);
  }
}

/** The processor time that a process has used, all threads that live, in seconds; 0 of one that has ended. */
async function processorSeconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const nanoseconds = await Promise.all(
    threads.map(async (thread) => {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      return Number(text.split(' ')[0]);
    }),
  );
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9;
}
