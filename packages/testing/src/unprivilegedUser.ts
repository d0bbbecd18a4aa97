import { spawnSync } from 'node:child_process';

const isRoot = process.getuid?.() === 0;

/** Options that run a process without root's privileges, since root may read and write everything. Empty for other users. */
export const unprivilegedUser = isRoot ? { uid: 65_534, gid: 65_534 } : {};

const readSources = ['-e', `require('node:fs').readFileSync(${JSON.stringify(import.meta.filename)})`];

/** Whether that user can read the sources. Prints a note if not. */
export const canRunUnprivileged =
  !isRoot || spawnSync(process.execPath, readSources, unprivilegedUser).status === 0;

if (!canRunUnprivileged)
  process.stderr.write('SKIPPED: a folder without permissions; only root can run Node with these sources.\n');
