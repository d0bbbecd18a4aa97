import { join } from 'node:path';
import {
  type Exit,
  listening,
  type RunningService,
  type ServiceProcess,
} from '@petstore/testing/serviceProcess';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';
import { type Configuration, readConfiguration } from '../../src/configuration/configuration.ts';
import { formatError } from '../../src/explain.ts';
import { run, type RunOptions } from './petStoreProcess.ts';

export interface Ended extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

export type Folder = Awaited<ReturnType<typeof newFolder>>;

/** The API key of servers in tests that are not about keys. */
export const apiKey = 'a-key-for-the-tests-0123456789';

/**
 * Creates a data folder for one test, and starts processes on it. Both are removed when the test ends.
 * @param atEnd registers the cleanup. Default: `onTestFinished`
 */
export async function newFolder(atEnd: (end: () => Promise<void>) => void = onTestFinished) {
  const dataDir = join(await temporaryFolder(atEnd), 'data');
  const started: ServiceProcess[] = [];
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
    /** The path of the data folder, which does not exist yet. */
    dataDir,
    /** Starts the process on a free port and waits until it listens. */
    serve: (options?: RunOptions) => listening(start(options)),
    /** Runs a command to its end. */
    command: async (args: readonly string[], options?: RunOptions): Promise<Ended> => {
      const { exited, stdout, stderr } = start({ ...options, args });
      return { ...(await exited), stdout: stdout(), stderr: stderr() };
    },
    /** Runs the function of a command in this process. Its outcome is described like that of `command`. */
    inProcess: (call: (configuration: Configuration) => Promise<string>, env?: RunOptions['env']) =>
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
export function sharedServer(options?: RunOptions): Folder & RunningService {
  const shared = {} as Folder & RunningService;
  beforeAll(async () => {
    const folder = await newFolder(afterAll);
    Object.assign(shared, folder, await folder.serve(options));
  });
  return shared;
}
