import { run } from './petStoreProcess.ts';

/** What a process that may not do everything runs as: root becomes nobody. */
export const nobody = process.getuid?.() === 0 ? { uid: 65_534 } : {};

/** Whether the sources can be run that way; where not, it says so. */
export const nobodyCanRun =
  process.getuid?.() !== 0 || (await run({ args: ['--version'], ...nobody }).exited).code === 0;

if (!nobodyCanRun)
  process.stderr.write('SKIPPED: a folder without rights; only root can read these sources.\n');
