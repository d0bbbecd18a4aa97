import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@petstore/testing/freePort';
import { slowness } from '@petstore/testing/slowness';
import { startProcess } from '@petstore/testing/startProcess';
import { apiKey } from './cases.ts';
import type { Contender } from './contenders.ts';
import { onCore, serverCore } from './cores.ts';
import { seededAnimals } from './petStore/animals.ts';
import { processorSeconds, processTree } from './processTree.ts';

/** How long a contender may take until its first response, in milliseconds. */
const startDeadlineMs = 30_000 * slowness;

/** A contender that answers. */
export interface ContenderProcess {
  readonly pid: number;
  readonly port: number;
  /** From the start of the process to its first 200, in milliseconds. */
  readonly startMs: number;
  /** Resident memory of the process itself, in MB (10⁶ bytes). */
  residentMb(): Promise<number>;
  /** The processor time that it has used, and the processes that it started, in seconds. */
  processorSeconds(): Promise<number>;
  /** The files that it runs on, by what they are: its runtime, and the addon of uWebSockets.js. */
  programs(): Promise<ReadonlyMap<string, string>>;
  stop(): Promise<void>;
}

/**
 * Starts a contender on its core and waits until it answers, with the animals that the cases ask for.
 * @throws {UnavailableError} if it is not available on this machine
 */
export async function startContender({
  command,
  environment,
  name,
  store,
  readyPath = '/v1/pets?limit=1',
}: Pick<Contender, 'command' | 'environment' | 'name' | 'store' | 'readyPath'>): Promise<ContenderProcess> {
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
      // Stopped, a process replaces no worker of its own, and each keeps its id.
      child.kill('SIGSTOP');
      const [, ...workers] = await processTree(child.pid as number);
      for (const worker of workers) process.kill(worker, 'SIGKILL');
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
  const startMs = performance.now() - since;
  if (store !== 'memory') {
    await seedOverHttp(port).catch(async (cause: unknown) => {
      await stop();
      throw cause;
    });
  }
  const pid = child.pid as number;
  return {
    pid,
    port,
    startMs,
    async residentMb() {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      return (Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
    },
    async processorSeconds() {
      const seconds = await Promise.all((await processTree(pid)).map(processorSeconds));
      return seconds.reduce((sum, value) => sum + value, 0);
    },
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

/**
 * Gives a store that keeps what it is given the animals that those in memory begin with: through the service, so for
 * whatever store it has.
 * @throws {Error} where the store was not empty: its ids would be others
 */
async function seedOverHttp(port: number): Promise<void> {
  // One after the other: the ids must be in the animals' order.
  for (const { id, ...animal } of seededAnimals()) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(animal),
    });
    const created = (await response.json()) as { readonly id?: number };
    if (created.id !== id) {
      throw new Error(
        `The store was to be empty: it made ${JSON.stringify(created)} of what was to be animal ${id}.`,
      );
    }
  }
}
