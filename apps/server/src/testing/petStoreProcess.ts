import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@petstore/testing/startProcess';
import { z } from 'zod';

/** The bundle of this run of the tests (`bundledProcess.ts`); outside of one, the sources. */
const main = process.env['PETSTORE_MAIN'] ?? fileURLToPath(new URL('../main.ts', import.meta.url));

export interface RunOptions {
  /** What runs in place of the process. */
  readonly entry?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The executable that runs it. Default: the Node of this process. */
  readonly runtime?: string;
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
  readonly uid?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The pet store's process. */
export interface PetStoreProcess {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<Exit>;
}

/** Starts the process. Nothing of this environment reaches it but `PATH`. */
export function run({
  entry = main,
  args = [],
  env = {},
  runtime = process.execPath,
  nodeArgs = [],
  uid,
}: RunOptions = {}): PetStoreProcess {
  const child = startProcess(runtime, ['--conditions=@petstore/source', ...nodeArgs, entry, ...args], {
    // The machine is busy with other tests: who waits for it is not to be refused.
    env: { PATH: process.env.PATH, MAX_QUEUE_MS: '60000', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
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

export interface RunningServer extends PetStoreProcess {
  readonly origin: string;
  /** Sends SIGTERM, unless it ended already. */
  readonly stop: () => Promise<Exit>;
}

/** Waits until a process that was started to serve says in its log where it listens. */
export async function listening(server: PetStoreProcess): Promise<RunningServer> {
  const stop = () => {
    server.child.kill('SIGTERM');
    return server.exited;
  };
  let ended = false;
  void server.exited.then(() => (ended = true));
  for (;;) {
    const line = logLines(server).find(({ msg }) => msg === 'listening');
    if (line !== undefined) {
      // What it printed on stderr before that line has come by then, and is read in this turn of the event loop.
      await new Promise(setImmediate);
      return { ...server, origin: String(line.origin), stop };
    }
    if (ended) throw new Error(`The server did not start: ${server.stderr()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const LogLine = z.record(z.string(), z.unknown());

/** The lines of the log so far; a line still being written is left out. */
export function logLines({ stdout }: Pick<PetStoreProcess, 'stdout'>): z.output<typeof LogLine>[] {
  return stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => LogLine.parse(JSON.parse(line)));
}

/** Waits until a server that listens can serve: its database may be reached later than its port. */
export async function ready({ origin }: Pick<RunningServer, 'origin'>): Promise<void> {
  while ((await fetch(`${origin}/readyz`)).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
