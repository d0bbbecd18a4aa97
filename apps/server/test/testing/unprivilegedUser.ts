import { run } from './petStoreProcess.ts';

/** Options that run a process without root's privileges: root switches to user id 65534. */
export const unprivilegedUser = process.getuid?.() === 0 ? { uid: 65_534 } : {};

/** Whether the sources are readable for the unprivileged user. Prints a note if they are not. */
export const canRunUnprivileged =
  process.getuid?.() !== 0 || (await run({ args: ['--version'], ...unprivilegedUser }).exited).code === 0;

if (!canRunUnprivileged)
  process.stderr.write('SKIPPED: a folder without rights; only root can read these sources.\n');
