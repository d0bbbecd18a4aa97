import { type ChildProcess, spawn, type SpawnOptions, spawnSync } from 'node:child_process';

/** `setpriv` of util-linux sets the signal (prctl(2), PR_SET_PDEATHSIG), then executes the command. */
const endsWithParent =
  process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0
    ? ['setpriv', '--pdeathsig', 'KILL', '--']
    : [];

/** The processes that still run: where the kernel does not end them, an exit of this process does. */
const running = new Set<ChildProcess>();

function killRunning(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a process that ends with the test's, also by SIGKILL; on Linux, even if its event loop hangs. */
export function startProcess(
  file: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const [command, ...before] = [...endsWithParent, file];
  const child = spawn(command, [...before, ...args], options);
  if (running.size === 0) process.on('exit', killRunning);
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    // Files of tests share a process, and each has a listener of its own.
    if (running.size === 0) process.off('exit', killRunning);
  });
  return child;
}
