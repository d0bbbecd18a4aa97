import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Mounts a disk of 2 MB at a path until the test ends. */
export function mountSmallDisk(path: string): void {
  onTestFinished(mountDisk(path));
}

/** Mounts a disk of 2 MB at a path. @returns a function that unmounts it */
export function mountDisk(path: string): () => void {
  mkdirSync(path, { recursive: true });
  mount(path);
  return () => unmount(path);
}

/** Whether this user may not mount a disk. Prints that once. */
export function lacksSmallDisks(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'petstore-'));
  try {
    mount(path);
    unmount(path);
    return false;
  } catch {
    process.stderr.write(
      'SKIPPED: a full disk needs a small tmpfs, and this user may not mount one (root may).\n',
    );
    return true;
  } finally {
    rmdirSync(path);
  }
}

function mount(path: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=0700', 'tmpfs', path], { stdio: 'pipe' });
}

/** Lazily, because a process may still use it. */
function unmount(path: string): void {
  execFileSync('umount', ['-l', path]);
}
