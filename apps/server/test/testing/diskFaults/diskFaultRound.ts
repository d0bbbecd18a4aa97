import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stopDeadlineMs } from 'trpc-gateway-runtime/signals';
import { startProcess } from '@petstore/testing/startProcess';
import { namesIn } from '../namesIn.ts';
import { logLines, type RunningServer } from '../petStoreProcess.ts';
import { startLoad } from './load.ts';

/** Faults that are injected into the disk of a server or into another process that shares its folder. */
export const diskFaults = [
  'EIO of a page',
  'EIO of fdatasync',
  'stopped lock holder',
  'folder removed',
] as const;
export type DiskFault = (typeof diskFaults)[number];

export interface DiskFaultRound {
  /** What the fault hit. The kind of a page is known only afterwards. */
  readonly hit: Exclude<DiskFault, 'EIO of a page'> | 'EIO of a data page' | 'EIO of a meta page' | 'nothing';
  readonly acknowledged: number;
  /** Number of acknowledged animals that are lost. */
  readonly lost: number;
  /** Time from the fault until `/readyz` was not 200, in milliseconds. */
  readonly notReadyMs: number | undefined;
  /** Time from the signal to the end of the process, or from the fault if the process ended by itself, in milliseconds. */
  readonly stopMs: number;
  readonly exit: string;
  /** Violations of the rules, one sentence each. */
  readonly faults: readonly string[];
}

/** How long after its deadline a shutdown may end, and how soon a loss must be reported. */
const stopGraceMs = 1_000;
const reportDeadlineMs = 1_000;

const holdLock = fileURLToPath(new URL('../holdLock.ts', import.meta.url));

/** Returns true for hits after which the process cannot continue. */
const isFatal = (hit: DiskFaultRound['hit']) => hit === 'EIO of a meta page' || hit === 'folder removed';

/** Creates animals on a server, injects a fault, stops the server, and compares acknowledged with stored animals. */
export async function diskFaultRound(
  fault: DiskFault,
  server: RunningServer,
  apiKey: string,
  dataDir: string,
): Promise<DiskFaultRound> {
  const load = startLoad(server.origin, apiKey);
  await load.acknowledgedMore(20);
  const { hit, at, undo } = await inject[fault](server, dataDir);
  // Long enough for the server to notice. After a fatal fault the process ends by itself.
  const waitMs = isFatal(hit) ? stopDeadlineMs + stopGraceMs : 200 + Math.random() * 1_500;
  const hasEnded = await Promise.race([server.exited.then(() => true), sleep(waitMs, false)]);
  const faults: string[] = [];
  if (hit === 'EIO of a data page' || hit === 'EIO of fdatasync') {
    const isServing = await Promise.race([load.acknowledgedMore(1).then(() => true), sleep(5_000, false)]);
    if (!isServing) faults.push('No create succeeds after the fault is over.');
  }
  const since = hasEnded ? at : Date.now();
  // Determined before the stop: after the signal the server is never ready.
  const notReadyAt = load.notReady.find((each) => each >= at);
  const { code, signal } = await server.stop();
  const stopMs = Math.round(Date.now() - since);
  await load.stop();
  await undo();

  const acknowledged = [...load.acknowledged];
  const stored = existsSync(`${dataDir}/petstore.mdb`) ? await namesIn(dataDir) : new Map<string, number>();
  const lost = acknowledged.filter((name) => !stored.has(name)).length;
  const notReadyMs = notReadyAt === undefined ? undefined : Math.round(notReadyAt - at);
  const isLogged = logLines(server).some(({ level, time }) => Number(level) >= 50 && Number(time) >= at - 50);

  const isReported = isLogged && notReadyMs !== undefined && notReadyMs <= reportDeadlineMs;
  if (lost > 0 && hit !== 'folder removed') faults.push(`${lost} acknowledged animals are gone.`);
  if ((lost > 0 || isFatal(hit)) && !isReported) {
    faults.push(`${isLogged ? 'Logged' : 'Not logged'}, and not ready after ${notReadyMs} ms.`);
  }
  if (isFatal(hit) && code !== 1) faults.push(`It should end with code 1, not ${signal ?? code}.`);
  if (hit === 'folder removed' && existsSync(dataDir)) faults.push('The data folder was made again.');
  if (stopMs > stopDeadlineMs + stopGraceMs) faults.push(`The stop took ${stopMs} ms.`);
  const duplicates = [...stored].filter(([, count]) => count > 1).length;
  if (duplicates > 0) faults.push(`${duplicates} animals are there twice.`);
  return {
    hit,
    acknowledged: acknowledged.length,
    lost,
    notReadyMs,
    stopMs,
    exit: signal ?? `code ${code}`,
    faults,
  };
}

interface Injected {
  readonly hit: DiskFaultRound['hit'];
  /** The time of the fault, in milliseconds since the epoch. */
  readonly at: number;
  /** Called after the server has ended. */
  readonly undo: () => Promise<void>;
}

const inject: Record<DiskFault, (server: RunningServer, dataDir: string) => Promise<Injected>> = {
  'EIO of a page': async (server, dataDir) => {
    const line = await strace(server, dataDir, 'pwrite64');
    // LMDB writes whole data pages, but only the 128 changed bytes of a meta page.
    const size = Number(/, (\d+), \d+\) = /.exec(line ?? '')?.[1]);
    const hit = size < 4096 ? 'EIO of a meta page' : 'EIO of a data page';
    return { ...(line === undefined ? { hit: 'nothing', at: Date.now() } : { hit, at: timeOf(line) }), undo };
  },
  'EIO of fdatasync': async (server, dataDir) => {
    const line = await strace(server, dataDir, 'fdatasync');
    if (line === undefined) return { hit: 'nothing', at: Date.now(), undo };
    return { hit: 'EIO of fdatasync', at: timeOf(line), undo };
  },
  'stopped lock holder': async (_, dataDir) => {
    const holder = startProcess(process.execPath, ['--conditions=trpc-gateway-source', holdLock, dataDir], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(holder.stdout ?? holder, 'data');
    holder.kill('SIGSTOP');
    return { hit: 'stopped lock holder', at: Date.now(), undo: () => end(holder, 'SIGKILL') };
  },
  'folder removed': async (_, dataDir) => {
    const at = Date.now();
    await rm(dataDir, { recursive: true });
    return { hit: 'folder removed', at, undo };
  },
};

const undo = async () => {};

const timeOf = (line: string) => Number(/(\d+\.\d+) /.exec(line)?.[1]) * 1_000;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/**
 * Makes one system call of each server thread fail by strace, then detaches.
 * @returns strace's line of the first failed call on a meta page, or else of the first failed call; `undefined` if none failed
 */
async function strace(server: RunningServer, dataDir: string, call: string): Promise<string | undefined> {
  const output = `${dataDir}-strace`;
  const when = 1 + Math.floor(Math.random() * 8);
  const tracing = ['-e', `trace=${call}`, '-e', `inject=${call}:error=EIO:when=${when}`];
  const tracer = startProcess(
    'strace',
    ['-f', '-ttt', '-s', '0', '-o', output, '-p', `${server.child.pid}`, ...tracing],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  await once(tracer.stderr ?? tracer, 'data');
  const injected = async () =>
    (await readFile(output, 'utf8')).split('\n').filter((line) => line.endsWith('(INJECTED)'));
  const deadline = Date.now() + 5_000;
  while ((await injected()).length === 0 && Date.now() < deadline) await sleep(5);
  await end(tracer, 'SIGINT');
  const lines = await injected();
  return lines.find((line) => /, 128, \d+\) = /.test(line)) ?? lines[0];
}
