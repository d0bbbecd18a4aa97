import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { startProcess } from '@petstore/testing/startProcess';

/** What runs alone on its core, so that neither side of a measurement takes time from the other. */
export interface Pinned {
  readonly child: ChildProcess;
  /** Sends a message, and gives the answer to it. */
  call<ReceivedResponse>(message: object): Promise<ReceivedResponse>;
  /** Physical memory, in bytes; 0 where the system does not tell. */
  rss(): Promise<number>;
  /** The most physical memory since the start, or since `forgetPeak`, in bytes; 0 where the system does not tell. */
  peakRss(): Promise<number>;
  forgetPeak(): Promise<void>;
  /** Processor time since the start, in milliseconds; 0 where the system does not tell. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** Starts a module as a process on a core, where the machine has several and `taskset`. */
export function startPinned(core: number, file: string, env: Readonly<Record<string, string>> = {}): Pinned {
  const node = [process.execPath, '--conditions=@petstore/source', file];
  const [command = '', ...args] = canPin ? ['taskset', '-c', String(core), ...node] : node;
  const child = startProcess(command, args, {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    // A log that somebody reads would be measured too.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-4000);
  });
  const gone = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) =>
      reject(new Error(`${file} ended (${signal ?? code}): ${complaint}`)),
    );
  });
  // It is looked at where something is waited for.
  gone.catch(() => {});
  const ofProcess = (what: string) => readFile(`/proc/${child.pid}/${what}`, 'utf8').catch(() => '');
  const memory = async (what: string) =>
    Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(await ofProcess('status'))?.[1] ?? 0) * 1024;
  return {
    child,
    async call<TestResponse>(message: object) {
      const answered = Promise.race([once(child, 'message'), gone]);
      child.send(message);
      const [response] = await answered;
      return response as TestResponse;
    },
    rss: () => memory('VmRSS'),
    peakRss: () => memory('VmHWM'),
    // proc_pid_clear_refs(5).
    forgetPeak: () => writeFile(`/proc/${child.pid}/clear_refs`, '5').catch(() => {}),
    async cpuMs() {
      // Behind the name, which may hold anything: user and system time, in hundredths of a second (proc(5)).
      const fields = (await ofProcess('stat')).split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Answers each message of the process that started this one. */
export function respondToParent(received: (message: unknown) => Promise<object>): void {
  process.on('message', (message) => {
    void received(message).then((reply) => process.send?.(reply));
  });
  process.once('disconnect', () => process.exit());
}
