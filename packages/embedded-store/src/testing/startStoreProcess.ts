import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@petstore/testing/startProcess';

const script = fileURLToPath(new URL('storeProcess.ts', import.meta.url));

/** Returns the arguments of Node that run an action of `storeProcess.ts`. */
export const storeProcessArguments = (...action: string[]) => [
  '--conditions=trpc-gateway-source',
  script,
  ...action,
];

export interface StoreProcess {
  readonly child: ChildProcess;
  /** Returns the next printed result; `undefined` if the process has ended. */
  next(): Promise<unknown>;
  /** Waits for the process to end. @returns the remaining results and how it ended */
  rest(): Promise<{ results: unknown[]; exitCode: number | null; signal: string | null }>;
}

/**
 * Runs an action of `storeProcess.ts` in a separate process. Ignores stderr, to which only lmdb writes. `tracer` is a
 * command that runs Node.
 */
export function startStoreProcess(
  action: string[],
  { tracer = [], ...options }: SpawnOptions & { readonly tracer?: readonly string[] } = {},
): StoreProcess {
  const [command, ...before] = [...tracer, process.execPath];
  const child = startProcess(command, [...before, ...storeProcessArguments(...action)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    ...options,
  });
  if (child.stdout === null) throw new Error('the process has no stdout');
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const line = await lines.next();
    // A killed process may leave an incomplete line.
    return line.done === true || !/[\]}"\w]$/.test(line.value) ? undefined : JSON.parse(line.value);
  };
  return {
    child,
    next,
    async rest() {
      const results: unknown[] = [];
      for (let result = await next(); result !== undefined; result = await next()) results.push(result);
      await ended;
      return { results, exitCode: child.exitCode, signal: child.signalCode };
    },
  };
}

/** Reads the whole folder in a separate process. @returns `'read'`, or how it failed */
export async function readInProcess(dataDir: string, options?: SpawnOptions): Promise<unknown> {
  const { results, exitCode, signal } = await startStoreProcess(['read', dataDir], options).rest();
  return exitCode === 0 ? results[0] : `ended by ${signal ?? exitCode}`;
}
