import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { startProcess } from './startProcess.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The process of a service, and what it printed. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<Exit>;
}

/** Returns the bundle of a program in this test run (`bundledPrograms.ts`), or the program itself. */
export const bundleOf = (program: string): string => process.env[`BUNDLE_${program}`] ?? program;

/** Starts the process of a service: its bundle (`bundleOf`), or its program with the sources of the packages that it imports. */
export function startService(
  runtime: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'env' | 'uid' | 'gid'>,
): ServiceProcess {
  const child = startProcess(runtime, ['--conditions=trpc-gateway-source', ...args.map(bundleOf)], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // `close`, not `exit`: what the process printed last has arrived too.
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, exited };
}

export interface RunningService extends ServiceProcess {
  readonly origin: string;
  /** Sends SIGTERM, unless it ended already. */
  readonly stop: () => Promise<Exit>;
}

/** Waits until a process that was started to serve says in its log where it listens. */
export async function listening(service: ServiceProcess): Promise<RunningService> {
  const stop = () => {
    service.child.kill('SIGTERM');
    return service.exited;
  };
  let ended = false;
  void service.exited.then(() => (ended = true));
  for (;;) {
    const line = logLines(service).find(({ msg }) => msg === 'listening');
    if (line !== undefined) {
      // What it printed on stderr before that line has come by then, and is read in this turn of the event loop.
      await new Promise(setImmediate);
      return { ...service, origin: String(line['origin']), stop };
    }
    if (ended) throw new Error(`The server did not start: ${service.stderr()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The lines of the log so far; a line still being written is left out. */
export const logLines = ({ stdout }: Pick<ServiceProcess, 'stdout'>): Record<string, unknown>[] =>
  stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
