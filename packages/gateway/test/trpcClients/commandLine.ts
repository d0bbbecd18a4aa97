import { parseArgs } from 'node:util';
import type { Subject } from './startRpcProcess.ts';

/** Options of the commands in this folder: `--server`, `--long` and `--seed`. */
export interface CommandLine {
  readonly subject: Subject;
  readonly isLong: boolean;
  readonly seed: number;
}

/** Returns whether Node was started with this module. */
export const isCommand = (meta: ImportMeta): boolean => process.argv[1] === meta.filename;

export function readCommandLine(): CommandLine {
  const { values } = parseArgs({
    options: {
      server: { type: 'string', default: 'gateway' },
      long: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
    },
  });
  return {
    subject: values.server === 'official' ? 'official' : 'gateway',
    isLong: values.long,
    seed: Number(values.seed),
  };
}

/** Prints the measurements to stdout and the problems to stderr. Sets the exit code to 1 if there are any. */
export function finish(measured: object, problems: readonly string[]): void {
  process.stdout.write(`${JSON.stringify(measured, null, 2)}\n`);
  for (const problem of problems) process.stderr.write(`Problem: ${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
