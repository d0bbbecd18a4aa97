import type { SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@petstore/testing/startProcess';

const script = fileURLToPath(new URL('storeProcess.ts', import.meta.url));

/** Returns the arguments of Node that run an action of `storeProcess.ts`. */
export const storeProcessArguments = (...action: string[]) => [
  '--conditions=trpc-gateway-source',
  script,
  ...action,
];

/** The results that a process printed, and how it ended. */
interface Ended {
  readonly results: readonly unknown[];
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Runs an action of `storeProcess.ts`. Ignores stderr, lmdb's alone. `tracer`: a command that runs Node. */
export async function runStoreProcess(
  action: string[],
  { tracer = [], ...options }: SpawnOptions & { readonly tracer?: readonly string[] } = {},
): Promise<Ended> {
  const [command, ...before] = [...tracer, process.execPath];
  const child = startProcess(command, [...before, ...storeProcessArguments(...action)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    ...options,
  });
  if (child.stdout === null) throw new Error('the process has no stdout');
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  // A killed process may leave an incomplete line.
  const results = printed.split('\n').filter((line) => /[\]}"\w]$/.test(line));
  return {
    results: results.map((line) => JSON.parse(line) as unknown),
    exitCode: child.exitCode,
    signal: child.signalCode,
  };
}

/** Reads the whole folder in a separate process. @returns `'read'`, or how it failed */
export async function readInProcess(dataDir: string, options?: SpawnOptions): Promise<unknown> {
  const { results, exitCode, signal } = await runStoreProcess(['read', dataDir], options);
  return exitCode === 0 ? results[0] : `ended by ${signal ?? exitCode}`;
}
