import { runningProcess, type SimulatedProcess } from '../simulatedProcess.ts';
import type { SimulatedDisk } from './simulatedDisk.ts';

/** What the path of a process leads to. */
export interface Place {
  readonly process: SimulatedProcess;
  readonly disk: SimulatedDisk;
  /** The path on the disk. */
  readonly path: string;
}

const mounts = new Map<string, Omit<Place, 'path'>>();

/** Gives a process the disk of its machine. It takes the place of one with the same name. */
export function mount(process: SimulatedProcess, disk: SimulatedDisk): void {
  disk.add(process);
  mounts.set(process.name, { process, disk });
}

/** Forgets all processes and disks. */
export function unmountAll(): void {
  mounts.clear();
}

/** Returns where a path such as `/p1/data` of `p1` leads. @throws if the process is dead or has no disk */
export function placeOf(path: string): Place {
  const end = path.indexOf('/', 1);
  const name = path.slice(1, end === -1 ? undefined : end);
  const found = mounts.get(name);
  if (found === undefined) throw new Error(`No disk is mounted for ${path}.`);
  if (!found.process.isAlive) throw new Error(`The process ${name} was killed.`);
  return { process: found.process, disk: found.disk, path: end === -1 ? '/' : path.slice(end) };
}

/** The boot id of the machine of the process whose code runs, which reads it at a path that does not begin with its name. */
export function currentBootId(): string {
  const mounted = mounts.get(runningProcess()?.name ?? '');
  if (mounted === undefined) throw new Error('No process with a disk runs.');
  return mounted.disk.bootId;
}
