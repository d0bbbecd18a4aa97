import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@petstore/testing/freePort';
import { apiKey } from './cases.ts';
import type { Contender } from './contenders.ts';
import { onCore, serverCore, workerCores } from './cores.ts';
import { processorSeconds, processTree } from './processTree.ts';
import { seedOverHttp } from './seedOverHttp.ts';

/** How long a contender may take until its first response, in milliseconds. */
const startDeadlineMs = 30_000;

const running = new Set<ChildProcess>();

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A contender that answers. */
export interface ContenderProcess {
  readonly pid: number;
  readonly port: number;
  /** From the start of the process to its first 200 to a GET of the list, in milliseconds. */
  readonly startMs: number;
  /** Resident memory of the process itself, not of its workers, in MB (10⁶ bytes). */
  residentMb(): Promise<number>;
  /** The processor time that it has used, and the processes that it started, in seconds. */
  processorSeconds(): Promise<number>;
  /** The same of each process that it started: of its workers. */
  workerSeconds(): Promise<readonly number[]>;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The folder of a store that is filled already. Default: a new one, removed at the end. */
  readonly dataDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * How many processes serve, of a contender that has workers: on every core that the load leaves. They all serve before
   * it is handed over. Default: one, on the server's core.
   */
  readonly workers?: number;
}

/**
 * Starts a contender on its core and waits until it answers, with the animals that the cases ask for.
 * @throws {UnavailableError} if it is not available on this machine
 */
export async function startContender(
  { command, environment, name, store }: Pick<Contender, 'command' | 'environment' | 'name' | 'store'>,
  options: StartOptions = {},
): Promise<ContenderProcess> {
  const [file, ...args] = onCore(options.workers === undefined ? serverCore : workerCores(), await command());
  const folder = options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'petstore-bench-')) : undefined;
  const port = await freePort();
  const since = performance.now();
  const child = spawn(file, args, {
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      PORT: String(port),
      API_KEY: apiKey,
      DATA_DIR: options.dataDir ?? join(folder ?? '', 'data'),
      ...environment,
      ...options.environment,
      ...(options.workers !== undefined && { WORKERS: String(options.workers) }),
    },
    // The log of the process is drained. Only the workers' messages are read.
    stdio: ['ignore', options.workers === undefined ? 'ignore' : 'pipe', 'pipe'],
  });
  let isListening = options.workers === undefined;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    // The line of the process that was started: the port is its workers' then, and no connection is reset any more.
    isListening ||= text.includes('"msg":"listening"');
  });
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = `${complaints}${text}`.slice(-4_000);
  });
  running.add(child);
  const stop = async () => {
    running.delete(child);
    if (child.exitCode === null && child.signalCode === null) {
      // Stopped, a process replaces no worker of its own, and each keeps its id.
      child.kill('SIGSTOP');
      const [, ...workers] = await processTree(child.pid as number);
      for (const worker of workers) process.kill(worker, 'SIGKILL');
      // No client is left, so there is nothing to drain.
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilResponding(child, port, () => isListening, since + startDeadlineMs);
  } catch (cause) {
    await stop();
    throw new Error(`${name} did not start: ${complaints || String(cause)}`, { cause });
  }
  const startMs = performance.now() - since;
  if (store !== 'memory' && options.dataDir === undefined) {
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
    async workerSeconds() {
      const [, ...workers] = await processTree(pid);
      return Promise.all(workers.map(processorSeconds));
    },
    stop,
  };
}

async function untilResponding(
  child: ChildProcess,
  port: number,
  isListening: () => boolean,
  deadline: number,
): Promise<void> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets?limit=1`, {
      headers: { authorization: `Bearer ${apiKey}`, connection: 'close' },
    }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200 && isListening()) return;
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error('it did not respond in time');
    await sleep(2);
  }
}
