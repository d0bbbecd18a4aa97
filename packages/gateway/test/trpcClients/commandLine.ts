import { parseArgs } from 'node:util';
import { countArgument } from '@petstore/testing/countArgument';
import type { Measured } from '../load/levels.ts';
import type { Subject } from './startRpcProcess.ts';

/** Options of commands: `--server`, `--brief`, `--long` and `--seed`. */
interface CommandLine {
  readonly subject: Subject;
  readonly isBrief: boolean;
  readonly isLong: boolean;
  readonly seed: number;
}

/** Returns whether Node was started with this module. */
export const isCommand = (meta: ImportMeta): boolean => process.argv[1] === meta.filename;

function readCommandLine(): CommandLine {
  const { values } = parseArgs({
    options: {
      server: { type: 'string', default: 'gateway' },
      brief: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
    },
  });
  return {
    subject: values.server === 'official' ? 'official' : 'gateway',
    isBrief: values.brief,
    isLong: values.long,
    seed: countArgument('--seed', values.seed, 1),
  };
}

/** Runs the command of a module if Node was started with it, and prints its result. */
export async function runCommand(
  meta: ImportMeta,
  run: (options: CommandLine) => Promise<Measured>,
): Promise<void> {
  if (!isCommand(meta)) return;
  const { measured, problems } = await run(readCommandLine());
  finish(measured, problems);
}

/** Prints the measurements to stdout and the problems to stderr. Sets the exit code to 1 if there are any. */
export function finish(measured: object, problems: readonly string[]): void {
  process.stdout.write(`${JSON.stringify(measured, null, 2)}\n`);
  for (const problem of problems) process.stderr.write(`Problem: ${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
