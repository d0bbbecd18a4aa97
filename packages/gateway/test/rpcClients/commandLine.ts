import { parseArgs } from 'node:util';
import type { Subject } from './startRpcProcess.ts';

/** What each command here takes: which server, the long form or the short one, a seed. */
export interface CommandLine {
  readonly subject: Subject;
  readonly isLong: boolean;
  readonly seed: number;
}

/** Whether this module is what Node was started with. */
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

/** Prints what was measured; what should not be ends the process with 1. */
export function finish(measured: object, faults: readonly string[]): void {
  process.stdout.write(`${JSON.stringify(measured, null, 2)}\n`);
  for (const fault of faults) process.stderr.write(`FAULT ${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
