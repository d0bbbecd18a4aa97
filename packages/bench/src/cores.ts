import { availableParallelism } from 'node:os';

// The server has one core and the load generator another, so only the server is measured.

export const serverCore = 0;
export const loadCore = 1;

/**
 * Where a server of several processes runs: on all cores but the load's, and where that would leave it one, on that of the
 * load too.
 */
export const workerCores = (cores = availableParallelism()): readonly number[] =>
  Array.from({ length: cores }, (_, core) => core).filter((core) => cores === 2 || core !== loadCore);

/** A command that runs on one core, or on any of several. */
export const onCore = (
  cores: number | readonly number[],
  [file, ...args]: readonly [string, ...string[]],
): [string, ...string[]] => ['taskset', '-c', String(cores), file, ...args];

/** Requires the cores that a measurement needs. @throws {Error} one sentence that names the remedy */
export function checkCores(): void {
  if (process.platform !== 'linux')
    throw new Error('The bench pins processes to cores by taskset: it needs Linux.');
  if (availableParallelism() < 2)
    throw new Error('The bench needs two cores: one for the server, one for the load.');
}
