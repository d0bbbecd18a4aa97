import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { bundleOf } from '@petstore/testing/serviceProcess';
import { startProcess } from '@petstore/testing/startProcess';

/** A process pinned to one CPU core, so that the server and its clients do not compete for processor time. */
export type Pinned = ReturnType<typeof startPinned>;

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** Starts a module by Node or Bun, pinned to a core if there are several and `taskset`. */
export function startPinned(
  core: number,
  file: string,
  env: Readonly<Record<string, string>> = {},
  executable = process.execPath,
) {
  const run = [executable, '--conditions=trpc-gateway-source', bundleOf(file)];
  const [command = '', ...args] = canPin ? ['taskset', '-c', String(core), ...run] : run;
  const child = startProcess(command, args, {
    env: {
      PATH: process.env['PATH'],
      NODE_OPTIONS: process.env['NODE_OPTIONS'],
      NODE_ENV: 'production',
      ...env,
    },
    // Reading the log would affect the measurement.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errorOutput = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString()).slice(-4000);
  });
  const exitedEarly = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) =>
      reject(new Error(`${file} ended (${signal ?? code}): ${errorOutput}`)),
    );
  });
  // Handled by `call`: without this, an exit between calls would be an unhandled rejection.
  exitedEarly.catch(() => {});
  const memory = async (field: string) => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
  };
  return {
    child,
    async call<MessageResponse>(message: object) {
      const received = Promise.race([once(child, 'message'), exitedEarly]);
      child.send(message);
      const [response] = await received;
      return response as MessageResponse;
    },
    /** The end of what the process has written to stderr. */
    errorOutput: () => errorOutput,
    /** Resident memory in bytes, or 0 if the system does not report it. */
    rss: () => memory('VmRSS'),
    /** The peak since the start or the last `resetPeak`. */
    peakRss: () => memory('VmHWM'),
    // proc_pid_clear_refs(5).
    resetPeak: () => writeFile(`/proc/${child.pid}/clear_refs`, '5').catch(() => {}),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Responds to each message of the parent process, and exits when the parent disconnects. */
export function respondToParent(handle: (message: unknown) => Promise<object>): void {
  process.on('message', (message) => {
    void handle(message).then((response) => process.send?.(response));
  });
  process.once('disconnect', () => process.exit());
}
