import { availableParallelism } from 'node:os';

// The server has one core and the load generator another, so only the server is measured.

export const serverCore = 0;
export const loadCore = 1;

/** A command that runs on one core. */
export const onCore = (
  core: number,
  [file, ...args]: readonly [string, ...string[]],
): [string, ...string[]] => ['taskset', '-c', String(core), file, ...args];

/** Requires the cores that a measurement needs. @throws {Error} one sentence that names the remedy */
export function checkCores(): void {
  if (process.platform !== 'linux')
    throw new Error('The bench pins processes to cores by taskset: it needs Linux.');
  if (availableParallelism() < 2)
    throw new Error('The bench needs two cores: one for the server, one for the load.');
}
