import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@petstore/testing/startProcess';
import { loadCore, onCore } from './cores.ts';
import { processorSeconds } from './processTree.ts';

/** A program that walks through 64 MB of memory (`load/memoryWalk.ts`), as a service beside the measured one would. */
export interface Neighbour {
  /** Runs the program only until the action ends. */
  during<Value>(action: () => Promise<Value>): Promise<Value>;
  /** The processor time that it has used, in seconds. */
  processorSeconds(): Promise<number>;
  stop(): void;
}

/**
 * Starts the program, which waits, on the core of the load. On the server's core it would take turns with the server,
 * and the scheduler would be measured. Here it takes only what the cores share: the last cache, and the way to memory.
 */
export async function startNeighbour(): Promise<Neighbour> {
  const program = fileURLToPath(new URL('load/memoryWalk.ts', import.meta.url));
  const [file, ...args] = onCore(loadCore, [process.execPath, program]);
  const child = startProcess(file, args, {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The neighbour did not start.')));
  await Promise.race([child.stdout && once(child.stdout, 'data'), ended]);
  child.kill('SIGSTOP');
  return {
    async during(action) {
      child.kill('SIGCONT');
      try {
        return await action();
      } finally {
        child.kill('SIGSTOP');
      }
    },
    processorSeconds: () => processorSeconds(child.pid as number),
    stop: () => void child.kill('SIGKILL'),
  };
}
