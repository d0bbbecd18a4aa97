import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import {
  type Exit,
  listening,
  type PetStoreProcess,
  run,
  type RunningServer,
  type RunOptions,
} from './petStoreProcess.ts';

export interface Ended extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** A data folder for one test, and the processes that the test starts on it. Both are removed when the test ends. */
export interface Folder {
  /** The path of the data folder, which does not exist yet. */
  readonly dataDir: string;
  readonly start: (options?: RunOptions) => PetStoreProcess;
  /** Starts the process on a free port and waits until it listens. */
  readonly serve: (options?: RunOptions) => Promise<RunningServer>;
  /** Runs a command to its end. */
  readonly command: (args: readonly string[], options?: RunOptions) => Promise<Ended>;
}

/** The API key of servers in tests that are not about keys. */
export const apiKey = 'a-key-for-the-tests-0123456789';

/** @param atEnd registers the cleanup. Default: `onTestFinished` */
export async function newFolder(atEnd: (end: () => Promise<void>) => void = onTestFinished): Promise<Folder> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  const dataDir = join(folder, 'data');
  const started: PetStoreProcess[] = [];
  atEnd(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all(started.map(({ exited }) => exited));
    await rm(folder, { recursive: true, force: true });
  });

  const start = (options: RunOptions = {}) => {
    const child = run({ ...options, env: { DATA_DIR: dataDir, PORT: '0', ...options.env } });
    started.push(child);
    return child;
  };
  return {
    dataDir,
    start,
    serve: (options) => listening(start(options)),
    command: async (args, options) => {
      const { exited, stdout, stderr } = start({ ...options, args });
      return { ...(await exited), stdout: stdout(), stderr: stderr() };
    },
  };
}

/** Starts a server that is shared by all tests of the surrounding `describe` or file: a start takes at least 0.5 s. */
export function sharedServer(options?: RunOptions): Pick<Folder, 'command'> & { readonly origin: string } {
  let shared: (Folder & { readonly origin: string }) | undefined;
  beforeAll(async () => {
    const folder = await newFolder(afterAll);
    shared = { ...folder, origin: (await folder.serve(options)).origin };
  });
  const started = () => {
    if (shared === undefined) throw new Error('The server runs only while cases do.');
    return shared;
  };
  return {
    get origin() {
      return started().origin;
    },
    command: (args, commandOptions) => started().command(args, commandOptions),
  };
}
