import { join } from 'node:path';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';
import { type Configuration, readConfiguration } from '../../src/configuration/configuration.ts';
import { formatError } from '../../src/explain.ts';
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
  /** Starts the process on a free port and waits until it listens. */
  readonly serve: (options?: RunOptions) => Promise<RunningServer>;
  /** Runs a command to its end. */
  readonly command: (args: readonly string[], options?: RunOptions) => Promise<Ended>;
  /** Runs the function of a command in this process. Its outcome is described like that of `command`. */
  readonly inProcess: (
    run: (configuration: Configuration) => Promise<string>,
    env?: RunOptions['env'],
  ) => Promise<Ended>;
}

/** The API key of servers in tests that are not about keys. */
export const apiKey = 'a-key-for-the-tests-0123456789';

/** @param atEnd registers the cleanup. Default: `onTestFinished` */
export async function newFolder(atEnd: (end: () => Promise<void>) => void = onTestFinished): Promise<Folder> {
  const dataDir = join(await temporaryFolder(atEnd), 'data');
  const started: PetStoreProcess[] = [];
  atEnd(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all(started.map(({ exited }) => exited));
  });

  const start = (options: RunOptions = {}) => {
    const child = run({ ...options, env: { DATA_DIR: dataDir, PORT: '0', ...options.env } });
    started.push(child);
    return child;
  };
  return {
    dataDir,
    serve: (options) => listening(start(options)),
    command: async (args, options) => {
      const { exited, stdout, stderr } = start({ ...options, args });
      return { ...(await exited), stdout: stdout(), stderr: stderr() };
    },
    inProcess: (call, env) =>
      outcomeOf(() => call(readConfiguration({ DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', ...env }))),
  };
}

/** Describes a call as the end of a process that prints its result, or its error as operators see it. */
async function outcomeOf(call: () => Promise<string>): Promise<Ended> {
  let progress = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    progress += String(text);
    return true;
  });
  try {
    return { code: 0, signal: null, stdout: `${await call()}\n`, stderr: progress };
  } catch (error) {
    return { code: 1, signal: null, stdout: '', stderr: `${progress}${formatError(error)}\n` };
  } finally {
    write.mockRestore();
  }
}

/** Starts a server that is shared by all tests of the surrounding `describe` or file: a start takes at least 0.5 s. */
export function sharedServer(options?: RunOptions): Folder & RunningServer {
  const shared = {} as Folder & RunningServer;
  beforeAll(async () => {
    const folder = await newFolder(afterAll);
    Object.assign(shared, folder, await folder.serve(options));
  });
  return shared;
}
