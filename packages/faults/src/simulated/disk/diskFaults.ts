import type { Random } from '@petstore/testing/random';
import { Gate } from '../link.ts';
import { runOutside } from '../simulatedProcess.ts';

/** Runs an action in a later turn of the event loop, after some milliseconds of virtual time. */
export const later = (ms: number, action: () => void): unknown =>
  runOutside(() => (ms === 0 ? setImmediate(action) : setTimeout(action, ms)));

/** Faults of a disk, changed at any time. Frozen, no sync ends; transactions without one go on (page cache). */
export class DiskFaults extends Gate {
  /** Whether commits and files that need space fail with ENOSPC. */
  full = false;
  /** Whether commits fail with EIO, half of them on a meta page: the process that commits must then open its file again. */
  failing = false;
  /** How long a commit with a sync takes at most, in milliseconds. */
  commitMs = 2;
  readonly random: Random;

  constructor(random: Random) {
    super();
    this.random = random;
  }

  /** The code of the error of a write, or `undefined`. */
  get errorCode(): 'ENOSPC' | 'EIO' | undefined {
    if (this.full) return 'ENOSPC';
    return this.failing ? 'EIO' : undefined;
  }
}

/** Creates an error as Node does, with the name of its code, or lmdb, with the number. */
export const systemError = (code: string | number, message: string): Error =>
  Object.assign(new Error(message), { code });
